/** Requests as editors have them (.http, .rest), in the dialects that httpyac reads. */
import { existsSync, readFileSync } from "node:fs";
import { access, readdir, readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, extname, isAbsolute, join, resolve } from "node:path";
import type * as Httpyac from "httpyac";
import { UsageError } from "../../shared/errors.ts";
import type { Answer } from "../load/ask.ts";
import type { Request } from "../load/request.ts";
import { OF_CONNECTION } from "./har.ts";

export interface HttpFile {
  readonly file: string;
  /** Of http-client.env.json, or of a folder env/; the only one there is if absent. */
  readonly environment?: string | undefined;
  /** Whether scripts in it run. */
  readonly allowScripts?: boolean | undefined;
}

export interface HttpFileRead {
  readonly requests: readonly Request[];
  /** Whether values are left that only a server that is up can fill in, or that differ each time: `{{login.response.body.$.token}}`, `{{$guid}}`. */
  readonly isLive: boolean;
  readonly notes: readonly string[];
}

/** A value that is not filled in. */
const PLACEHOLDER = /{{\s*([^{}]+?)\s*}}/;
const SCRIPTS = /^(js|intellij|assert)/;
/** Files of httpyac that are programs. */
const SETTINGS = /^\.?httpyac(\.config)?\.[cm]?js$/;

/**
 * @param ask asks a server that is up; if absent, nothing is asked and values that need it are left as they are written
 * @throws UsageError with file and line for what is not understood
 */
export async function readHttpFile(file: HttpFile, ask?: (request: Request) => Promise<Answer>): Promise<HttpFileRead> {
  const text = readFileSync(file.file, "utf8").replace(/^\uFEFF/, "");
  const yac: typeof Httpyac = createRequire(import.meta.url)("httpyac");
  allowFiles(yac, file);
  const parsed = await parse(yac, file, text, ask !== undefined);
  const own = parsed.httpRegions.filter((region) => !region.isGlobal());
  const regions = own.filter(({ metaData }) => metaData.disabled === undefined);
  for (const region of regions) checkRegion(file.file, region);
  const notes = own.length > regions.length ? [`${file.file}: ${own.length - regions.length} disabled, left out`] : [];
  if (!file.allowScripts && parsed.httpRegions.filter(dropScripts).length > 0)
    notes.push(`${file.file}: its scripts do not run; --allow-scripts runs them`);

  const seen = new Map<Httpyac.HttpRegion, Request>();
  const environment = await environmentOf(yac, file, parsed);
  const sending: Httpyac.HttpFileSendContext = {
    httpFile: parsed,
    ...(environment && { activeEnvironment: [environment] }),
    scriptConsole: SILENT,
    variables: {},
  };
  const context = await yac.createEmptyProcessorContext(sending);
  const needed = (region: Httpyac.HttpRegion) =>
    file.allowScripts || (typeof region.metaData.name === "string" && isUsed(text, region.metaData.name));
  yac.io.httpClientProvider.createRequestClient = (request, { httpRegion }) => {
    const one = requestOf(request, httpRegion);
    if (!seen.has(httpRegion)) seen.set(httpRegion, one);
    return clientOf(yac, async () => (ask && needed(httpRegion) ? ask(resolved(file.file, text, one)) : null));
  };
  await yac.utils.executeGlobalScripts(context);
  for (const region of file.allowScripts
    ? regions
    : regions.toSorted((a, b) => Number(needed(b)) - Number(needed(a)))) {
    await region.execute(context, true);
    if (seen.has(region)) continue;
    const reason = region.testResults?.find(({ error }) => error)?.message ?? "it cannot be read";
    throw new UsageError(`${at(file.file, region)}: ${reason}`);
  }
  const requests = regions.map((region) => seen.get(region) as Request);
  const open = requests.filter((request) => PLACEHOLDER.test(JSON.stringify(request)));
  for (const request of open) if (ask || !isFilledLater(parsed, request, file)) resolved(file.file, text, request);
  return { requests, isLive: open.length > 0, notes };
}

/** Reads files, but no programs of the project that a file is in unless they are allowed. */
function allowFiles({ io }: typeof Httpyac, { allowScripts }: HttpFile): void {
  const isHidden = (file: unknown) => !allowScripts && SETTINGS.test(String(file).split("/").at(-1) ?? "");
  Object.assign(io.log, SILENT);
  Object.assign(io.fileProvider, {
    EOL: "\n",
    isAbsolute: async (file: string) => isAbsolute(file),
    dirname: (file: string) => dirname(file),
    hasExtension: (file: string, ...extensions: string[]) => extensions.includes(extname(file).slice(1)),
    joinPath: (folder: string, file: string) => join(folder, file),
    exists: (file: string) =>
      access(file).then(
        () => !isHidden(file),
        () => false,
      ),
    readFile: (file: string, encoding: BufferEncoding) => readFile(file, encoding),
    readBuffer: (file: string) => readFile(file),
    readdir: async (folder: string) => (await readdir(folder)).filter((file) => !isHidden(file)),
    fsPath: (file: string) => file,
    toString: (file: unknown) => String(file),
  });
}

async function parse(yac: typeof Httpyac, { file, allowScripts }: HttpFile, text: string, isUp: boolean) {
  const configure: Httpyac.ConfigureHooks = ({ hooks }) => {
    hooks.onRequest.removeHook("setDefaultHttpyacHeaders");
    // What differs each time stays as it is written until it is asked.
    if (!isUp) for (const id of ["restClientDynamic", "intellijDynamic"]) hooks.replaceVariable.removeHook(id);
    if (!allowScripts || !isUp) hooks.replaceVariable.removeHook("javascript");
    hooks.replaceVariable.addHook("responses", (value, _type, { variables }) =>
      yac.utils.parseHandlebarsString(value, async (name: string) => valueAt(variables, name)),
    );
  };
  return new yac.store.HttpFileStore({ configure }).parse(file, text, { workingDir: dirname(file) });
}

const SILENT = Object.fromEntries(
  ["info", "log", "warn", "error", "debug", "trace", "logPriority", "clear"].map((name) => [name, () => {}]),
) as unknown as Httpyac.ConsoleLogHandler;

/** @returns the variable that httpyac makes of a request's name: `my-login` is `myLogin`. */
const variableOf = (name: string): string => name.replace(/[-\s]./g, (two) => two.slice(1).toUpperCase());

/** `login.response.body.$.token` and `login.response.headers.x-token` of REST Client, `login.token` of httpyac. @returns undefined if there is no such value */
function valueAt(variables: Httpyac.Variables, expression: string): unknown {
  const [first = "", ...path] = expression
    .trim()
    .split(/[.[\]'"]+/)
    .filter(Boolean);
  const name = variableOf(first);
  const response = variables[`${name}Response`] as
    | { parsedBody?: unknown; body?: unknown; headers: object }
    | undefined;
  const [of, part, ...rest] = path;
  if (response === undefined || of !== "response") return path.length > 0 ? within(variables[name], path) : undefined;
  if (part === "headers") return within(response.headers, [rest.join(".").toLowerCase()]);
  return rest[0] === "*" ? response.body : within(response.parsedBody ?? response.body, rest);
}

const within = (value: unknown, path: readonly string[]): unknown =>
  path.reduce<unknown>(
    (inner, step) => (step === "$" ? inner : (inner as Record<string, unknown> | undefined)?.[step]),
    value,
  );

/** @returns the environments to use. @throws UsageError for one that there is not */
async function environmentOf(
  yac: typeof Httpyac,
  { file, environment }: HttpFile,
  httpFile: Httpyac.HttpFile,
): Promise<string | undefined> {
  const all = await yac.getEnvironments({ httpFile, variables: {} } as unknown as Httpyac.VariableProviderContext);
  if (environment === undefined) return all.length === 1 ? all[0] : undefined;
  if (all.includes(environment)) return environment;
  throw new UsageError(`--environment "${environment}": ${file} has ${all.join(", ") || "none"}: choose one of them`);
}

const lineOf = ({ symbol }: Httpyac.HttpRegion) => {
  const line = symbol.children?.find(({ kind }) => kind === "requestLine");
  return { number: 1 + (line ?? symbol).startLine, text: (line?.name ?? "").trim() };
};
const at = (file: string, region: Httpyac.HttpRegion): string => {
  const { number, text } = lineOf(region);
  return `${file}, line ${number}: "${text}"`;
};

/** What a request line may be: methods are capitals, a URL has a host or begins with `/`; spaces only within a query. */
const REQUEST_LINE =
  /^(?:[A-Z][A-Z-]+\s+)?(?:https?:\/\/|[/?[]|:\d|localhost\b|x\b|[\w-]+(?:\.[\w-]+)+|[\w-]+:\d)(?:\S*|[^\s?]*\?.*?)(?:\s+HTTP\/[\d.]+(?:\s+\(.*\))?)?$/i;

/** @throws UsageError for a line that is not understood, and for a protocol or a file that there is not */
function checkRegion(file: string, region: Httpyac.HttpRegion): void {
  const { text } = lineOf(region);
  const wrong = (why: string) => new UsageError(`${at(file, region)}: ${why}`);
  if (region.request && region.request.protocol !== "HTTP")
    throw wrong("only HTTP can be loaded: take it out, or write # @disabled above it");
  const [method = ""] = /^[a-z]+(?=\s)/i.exec(text) ?? [];
  const plain = text.replace(new RegExp(PLACEHOLDER, "g"), "x");
  if (method !== method.toUpperCase() || /\s(\/\/|#)/.test(plain) || !REQUEST_LINE.test(plain))
    throw wrong("write it as METHOD URL, e.g. GET /path, with nothing after it");
  const included = /^<@?\w*\s+([^\s{]+)\s*$/m.exec(region.symbol.source ?? "")?.[1];
  if (included && !existsSync(resolve(dirname(file), included)))
    throw wrong(`${included} cannot be read: give a path that begins at the folder of this file`);
}

/** @returns whether there were any */
function dropScripts({ hooks }: Httpyac.HttpRegion): boolean {
  let found = false;
  for (const hook of Object.values(hooks)) {
    for (const { id } of hook.items) if (SCRIPTS.test(id) && hook.removeHook(id)) found ||= !id.startsWith("assert");
    for (const { id } of hook.interceptors)
      if (id.startsWith("afterJavascript") && hook.removeInterceptor(id)) found = true;
  }
  return found;
}

/** Whether another request refers to the answer of the one of this name. */
const isUsed = (text: string, name: string): boolean => {
  const camel = variableOf(name);
  return new RegExp(`{{[^}]*\\b(${name}|${camel})(Response)?\\b|@(force)?ref\\s+${name}\\b`, "i").test(text);
};

function requestOf(request: Httpyac.Request, { symbol }: Httpyac.HttpRegion): Request {
  const { method = "GET", url = "", headers = {}, body, options } = request as Httpyac.HttpRequest;
  const own = Object.entries(headers).flatMap(([name, value]) =>
    OF_CONNECTION.test(name) || value === undefined ? [] : [[name.toLowerCase(), [value].flat().join(", ")] as const],
  );
  const path = pathOf(url);
  const cookie = (options?.cookieJar as CookieJar | undefined)?.getCookieStringSync(`http://localhost${path}`);
  const bytes = body === undefined || body === null || body === "" ? undefined : Buffer.from(body as string | Buffer);
  const text = bytes?.toString("utf8");
  const status = /^\s*\?\? status ==? (\d{3})\s*$/m.exec(symbol.source ?? "")?.[1];
  return {
    method: method === "GRAPHQL" ? "POST" : method,
    path,
    headers: { ...(cookie && { cookie }), ...Object.fromEntries(own) },
    ...(bytes &&
      (bytes.equals(Buffer.from(text ?? "")) ? { body: text } : { body: bytes.toString("base64"), base64: true })),
    ...(status && { status: Number(status) }),
  } as Request;
}

interface CookieJar {
  getCookieStringSync(url: string): string;
}

/** Requests go to the servers that are measured, whatever host they name. */
function pathOf(url: string): string {
  const path = url.trim().replace(/^(?:https?:\/\/)?[^/?#]*/i, "");
  const { pathname, search } = new URL(path, "http://localhost");
  // What is not filled in yet stays readable.
  return (pathname + search)
    .replace(/%7B%7B.*?%7D%7D/gi, (text) => decodeURIComponent(text))
    .replace(/{{.*?}}/g, (text) => decodeURIComponent(text));
}

/** A request of which all is filled in. @throws UsageError that names file, line and value */
function resolved(file: string, text: string, request: Request): Request {
  const name = PLACEHOLDER.exec(JSON.stringify(request))?.[1];
  if (name === undefined) return request;
  const line = text.split("\n").findIndex((line) => line.includes(name));
  const why = /[.[]/.test(name)
    ? "is not in the answer that it names: look at that answer"
    : "is not defined: define it, or give --environment";
  throw new UsageError(`${file}, line ${line + 1}: {{${name}}} ${why}`);
}

/** Whether all that is open in a request is an answer of another, or differs each time. */
function isFilledLater(parsed: Httpyac.HttpFile, request: Request, { allowScripts }: HttpFile): boolean {
  const names = parsed.httpRegions.flatMap(({ metaData: { name } }) => (typeof name === "string" ? [name] : []));
  const open = [...JSON.stringify(request).matchAll(new RegExp(PLACEHOLDER, "g"))].map(([, name = ""]) => name);
  const isOf = (text: string) =>
    /^\$/.test(text) || names.some((name) => text.startsWith(name) || text.startsWith(variableOf(name)));
  return allowScripts === true || open.every(isOf);
}

function clientOf(yac: typeof Httpyac, answer: () => Promise<Answer | null>): Httpyac.RequestClient {
  class Client extends yac.AbstractRequestClient<undefined> {
    readonly supportsStreaming = false;
    readonly nativeClient = undefined;
    readonly reportMessage = "";
    async connect() {
      return undefined;
    }
    disconnect() {}
    async send() {
      const got = await answer();
      if (got === null) return;
      const { status, headers, body } = got;
      this.onMessage("message", {
        protocol: "HTTP",
        statusCode: status,
        headers,
        body: body.toString(),
        rawBody: body,
        contentType: yac.utils.parseMimeType(headers["content-type"] ?? ""),
      } as Httpyac.HttpResponse);
    }
  }
  return new Client();
}
