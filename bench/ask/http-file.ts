/** Reads requests from .http and .rest files of editors, in the dialects that httpyac reads. */
import { existsSync, readFileSync } from "node:fs";
import { access, readdir, readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, extname, isAbsolute, join, resolve } from "node:path";
import type * as Httpyac from "httpyac";
import { UsageError } from "../../shared/errors.ts";
import { setUp } from "../host/tools.ts";
import type { Answer } from "../load/ask.ts";
import { bodyOf, type Request } from "../load/request.ts";
import { joined, OF_CONNECTION } from "./har.ts";

export interface HttpFile {
  readonly file: string;
  /** Name of an environment in http-client.env.json or in a folder env/; if absent, the only one there is. */
  readonly environment?: string | undefined;
  /** Whether scripts in it run. */
  readonly allowScripts?: boolean | undefined;
  /** From --header, for all requests. */
  readonly headers?: Request["headers"] | undefined;
}

export interface HttpFileRead {
  readonly requests: readonly Request[];
  /** Whether some values need a running server, or differ each time: `{{login.response.body.$.token}}`, `{{$guid}}`. */
  readonly isLive: boolean;
  readonly notes: readonly string[];
}

/** A value that is not filled in. */
const PLACEHOLDER = /{{\s*([^{}]+?)\s*}}/;
const SCRIPTS = /^(js|intellij|assert)/;
/** Names a request that must be sent before the one below; it may be in another file. */
const REFERENCE = /^(?:#|\/\/)\s*@(?:force)?ref\s+(\S+)/gim;
/** Name of the values for all environments in files of Visual Studio. */
const SHARED = "$shared";
/** Configuration files of httpyac, which are programs. */
const SETTINGS = /^\.?httpyac(\.config)?\.[cm]?js$/;

/**
 * @param ask sends a request to a running server; if absent, values that need a server stay as they are written
 * @throws UsageError with file and line for what is not understood
 */
export async function readHttpFile(file: HttpFile, ask?: (request: Request) => Promise<Answer>): Promise<HttpFileRead> {
  const text = decoded(readFileSync(file.file)).replace(/^\uFEFF/, "");
  await setUp("httpyac");
  const yac: typeof Httpyac = createRequire(import.meta.url)("httpyac");
  allowFiles(yac, file);
  const parsed = await parse(yac, file, text, ask !== undefined);
  const own = parsed.httpRegions.filter((region) => !region.isGlobal());
  const regions = own.filter(({ metaData }) => metaData.disabled === undefined);
  for (const region of regions) checkRegion(file.file, region);
  const notes = own.length > regions.length ? [`${file.file}: ${own.length - regions.length} disabled, left out`] : [];
  const scripted = !file.allowScripts && parsed.httpRegions.filter(dropScripts).length > 0;
  if (scripted) notes.push(`${file.file}: its scripts do not run; --allow-scripts runs them`);

  const names = namesIn(parsed, text);
  const seen = new Map<Httpyac.HttpRegion, Request>();
  const { environment, others } = await environmentOf(yac, file, parsed);
  const sending: Httpyac.HttpFileSendContext = {
    httpFile: parsed,
    activeEnvironment: [SHARED, ...environment],
    scriptConsole: SILENT,
    variables: {},
  };
  await yac.store.userSessionStore.reset(); // cookies of an earlier server
  const context = await yac.createEmptyProcessorContext(sending);
  const needed = (region: Httpyac.HttpRegion) =>
    file.allowScripts || (typeof region.metaData.name === "string" && isUsed(text, region.metaData.name));
  yac.io.httpClientProvider.createRequestClient = (request, { httpRegion }) => {
    const asWritten = requestOf(request, httpRegion);
    const ref = httpRegion.metaData.ref ?? httpRegion.metaData.forceRef;
    // A placeholder until that request is sent, so that this one counts as incomplete.
    const cookie = !ask && typeof ref === "string" && { cookie: `{{${ref}.cookie}}` };
    const one = { ...asWritten, headers: { ...cookie, ...asWritten.headers, ...file.headers } };
    const host = PLACEHOLDER.exec((request.url ?? "").replace(/^(https?:\/\/)?([^/?#]*).*/s, "$2"))?.[1];
    if (host && others.length > 0) throw new UsageError(`{{${host}}} is not defined: ${chooseOf(others)}`);
    if (!seen.has(httpRegion)) seen.set(httpRegion, one);
    return clientOf(yac, async () => {
      if (!ask || !needed(httpRegion)) return null;
      const answer = await ask(resolved(one));
      keepCookies(request, one.path, answer);
      return answer;
    });
  };
  /** @returns the request, if all its values are filled in. @throws UsageError that names file, line and value */
  const resolved = (request: Request): Request => {
    const name = PLACEHOLDER.exec(JSON.stringify(request))?.[1];
    if (name === undefined) return request;
    const line = text.split("\n").findIndex((line) => line.includes(`{{${name}`) || line.includes(`{{ ${name}`));
    const why = isValueOf(names, name)
      ? "is not in the answer that it names: look at that answer"
      : `is not defined: ${others.length > 0 ? chooseOf(others) : `define it, or give --environment${scripted ? " or --allow-scripts" : ""}`}`;
    throw new UsageError(`${file.file}, line ${line + 1}: {{${name}}} ${why}`);
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
  for (const request of open) if (ask || !isFilledLater(names, request, file)) resolved(request);
  return { requests, isLive: open.length > 0, notes };
}

/** @returns the names of the requests, and the names that refer to requests of imported files. */
const namesIn = (parsed: Httpyac.HttpFile, text: string): string[] => [
  ...parsed.httpRegions.flatMap(({ metaData: { name } }) => (typeof name === "string" ? [name] : [])),
  ...[...text.matchAll(REFERENCE)].map(([, name = ""]) => name),
];

/** @returns text from UTF-8, or from UTF-16 as PowerShell writes it. */
export const decoded = (bytes: Buffer): string =>
  bytes[0] === 0xff && bytes[1] === 0xfe ? bytes.toString("utf16le") : bytes.toString("utf8");

/** Lets httpyac read files, but not its configuration programs in the file's project, unless scripts are allowed. */
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
    // No hooks that wait or ask a person, and no cookies, because they are set for the file's host, which a load ignores.
    for (const id of ["note", "sleep", "rateLimit", "keepStreaming", "loop"]) hooks.parseMetaData.removeHook(id);
    hooks.replaceVariable.removeHook("cookie");
    // Values that differ each time stay as they are written until the request is sent.
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

/** Reads `login.response.body.$.token` and `login.response.headers.x-token` of REST Client, `login.token` of httpyac; undefined if missing. */
function valueAt(variables: Httpyac.Variables, expression: string): unknown {
  const [first = "", ...path] = expression
    .trim()
    .split(/[.[\]'"]+/)
    .filter(Boolean);
  // `$env.NAME` of IntelliJ is an environment variable; `%name` of REST Client is a value that must be URL-encoded.
  if (first === "$env") return process.env[path.join(".")];
  const plain = first.startsWith("%") ? variables[first.slice(1)] : undefined;
  if (plain !== undefined) return encodeURIComponent(String(plain));
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

/** @returns the environment to use, or those to choose from. @throws UsageError if it does not exist or cannot be read */
async function environmentOf(
  yac: typeof Httpyac,
  { file, environment }: HttpFile,
  httpFile: Httpyac.HttpFile,
): Promise<{ environment: string[]; others: string[] }> {
  for (const name of ["http-client.env.json", "http-client.private.env.json"]) checkJson(join(dirname(file), name));
  const found = await yac.getEnvironments({ httpFile, variables: {} } as unknown as Httpyac.VariableProviderContext);
  const all = found.filter((name) => name !== SHARED);
  if (environment === undefined)
    return all.length > 1 ? { environment: [], others: all } : { environment: all, others: [] };
  if (all.includes(environment)) return { environment: [environment], others: [] };
  if (all.length > 0)
    throw new UsageError(`--environment "${environment}": ${file} has ${all.join(", ")}: choose one of them`);
  throw new UsageError(
    `--environment "${environment}": ${file} has none: write http-client.env.json beside it, or leave out --environment`,
  );
}

const chooseOf = (environments: readonly string[]) => `give --environment ${environments.join(" or ")}`;

/** @throws UsageError for a file that is no JSON, because httpyac would ignore it without an error */
function checkJson(file: string): void {
  if (!existsSync(file)) return;
  try {
    JSON.parse(readFileSync(file, "utf8"));
  } catch (error) {
    throw new UsageError(`${file} cannot be read as JSON (${(error as Error).message}): correct it`);
  }
}

const lineOf = ({ symbol }: Httpyac.HttpRegion) => {
  const line = symbol.children?.find(({ kind }) => kind === "requestLine");
  return { number: 1 + (line ?? symbol).startLine, text: (line?.name ?? "").trim() };
};
const SHOWN = 120;
const at = (file: string, region: Httpyac.HttpRegion): string => {
  const { number, text } = lineOf(region);
  return `${file}, line ${number}: "${text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text}"`;
};

/** Authorization that a load cannot repeat, because the client must answer a challenge or sign the host. */
const EXCHANGED = /^authorization:\s*(digest|aws|oauth2|openid)\s[^="]*$/im;

/** What a request line may be: methods are capitals, a URL has a host or begins with `/`; spaces only within a query. */
const REQUEST_LINE =
  /^(?:[A-Z][A-Z-]+\s+)?(?:https?:\/\/|[/?[]|:\d|localhost\b|x+\b|[\w-]+(?:\.[\w-]+)+|[\w-]+:\d)(?:\S*|[^\s?]*\?.*?)(?:\s+HTTP\/[\d.]+(?:\s+\(.*\))?)?$/i;

/** @throws UsageError for a line that is not understood, a protocol other than HTTP, or a missing file */
function checkRegion(file: string, region: Httpyac.HttpRegion): void {
  const { text } = lineOf(region);
  const wrong = (why: string) => new UsageError(`${at(file, region)}: ${why}`);
  if (region.request && region.request.protocol !== "HTTP")
    throw wrong("only HTTP can be loaded: take it out, or write # @disabled above it");
  const [method = ""] = /^[a-z]+(?=\s)/i.exec(text) ?? [];
  const plain = text.replace(new RegExp(PLACEHOLDER, "g"), "x");
  if (method !== method.toUpperCase() || /\s(\/\/|#)/.test(plain) || !REQUEST_LINE.test(plain))
    throw wrong("write it as METHOD URL, e.g. GET /path, with nothing after it");
  // httpyac reads an unknown method as a part of the URL.
  const written = /^[A-Z-]+(?=\s)/.exec(text)?.[0] ?? "GET";
  if (written === "CONNECT" || written !== region.request?.method)
    throw wrong(`${written} cannot be loaded: leave it out`);
  if (region.metaData.loop !== undefined) throw wrong("# @loop cannot be loaded: write each request");
  const source = region.symbol.source ?? "";
  const scheme = EXCHANGED.exec(source)?.[1];
  if (scheme) throw wrong(`authorization by ${scheme} cannot be repeated: give Basic or Bearer`);
  const lines = source.split("\n");
  const body = region.symbol.children?.find(({ kind }) => kind === "requestBody")?.startLine ?? 0;
  const [above = "", first = ""] = lines.slice(Math.max(0, body - region.symbol.startLine - 1));
  if (body > 0 && above.trim() !== "" && !/^\s*[[{<"]/.test(first))
    throw new UsageError(
      `${file}, line ${body + 1}: "${first.trim()}" is no header: write NAME: VALUE, or an empty line above a body`,
    );
  const included = /^<@?\w*\s+([^\s{]+)\s*$/m.exec(source)?.[1];
  if (included && !existsSync(resolve(dirname(file), included)))
    throw wrong(`${included} cannot be read: give a path that begins at the folder of this file`);
}

/** Removes the scripts of a request. @returns whether there were any besides assertions */
function dropScripts({ hooks }: Httpyac.HttpRegion): boolean {
  let found = false;
  for (const hook of Object.values(hooks)) {
    for (const { id } of hook.items) if (SCRIPTS.test(id) && hook.removeHook(id)) found ||= !id.startsWith("assert");
    for (const { id } of hook.interceptors)
      if (id.startsWith("afterJavascript") && hook.removeInterceptor(id)) found = true;
  }
  return found;
}

/** Whether another request refers to the answer of the request with this name. */
const isUsed = (text: string, name: string): boolean => {
  const [written, camel] = [name, variableOf(name)].map((one) => RegExp.escape(one));
  const used = `{{[^}]*(?<!\\w)(${written}|${camel})(Response)?(?!\\w)|@(force)?ref\\s+${written}(?!\\w)`;
  return new RegExp(used, "i").test(text);
};

function requestOf(request: Httpyac.Request, { symbol }: Httpyac.HttpRegion): Request {
  const { method = "GET", url = "", headers = {}, body: written, options } = request as Httpyac.HttpRequest;
  // httpyac reads the brace of a GraphQL operation without a name as its name.
  const body = typeof written === "string" ? written.replace(/,"operationName":"{"/, "") : written;
  const own = Object.entries(headers).flatMap(([name, value]) =>
    OF_CONNECTION.test(name) || value === undefined
      ? []
      : [[name.toLowerCase(), joined(name, [value].flat())] as const],
  );
  const path = pathOf(url);
  const cookie = (options?.cookieJar as CookieJar | undefined)?.getCookieStringSync(SITE + path);
  const bytes = body === undefined || body === null || body === "" ? undefined : Buffer.from(body as string | Buffer);
  const status = /^\s*\?\? status ==? (\d{3})\s*$/m.exec(symbol.source ?? "")?.[1];
  return {
    method: method === "GRAPHQL" ? "POST" : method,
    path,
    headers: { ...(cookie && { cookie }), ...Object.fromEntries(own) },
    ...(bytes && bodyOf(bytes)),
    ...(status && { status: Number(status) }),
  } as Request;
}

interface CookieJar {
  getCookieStringSync(url: string): string;
  setCookieSync(cookie: string, url: string, options: { ignoreError: boolean }): void;
}

/** Site of all cookies; https, so that secure cookies are sent as well. */
const SITE = "https://localhost";

/** Keeps the cookies of an answer for the requests that refer to it. */
function keepCookies(request: Httpyac.Request, path: string, { headers }: Answer): void {
  const jar = (request as Httpyac.HttpRequest).options?.cookieJar as CookieJar | undefined;
  // Several cookies are one text, separated by commas; dates in it have commas as well.
  for (const cookie of headers["set-cookie"]?.split(/,(?=\s*[^\s;,=]+=)/) ?? [])
    jar?.setCookieSync(cookie.replace(/;\s*domain=[^;]*/i, ""), SITE + path, { ignoreError: true });
}

/** Requests go to the servers that are measured, whatever host they name. */
function pathOf(url: string): string {
  const path = url.trim().replace(/^(?:https?:\/\/)?[^/?#]*/i, "");
  const { pathname, search } = new URL(SITE + path.replace(/^(?![/?#])/, "/"));
  // Placeholders stay readable.
  return (pathname + search).replace(/(%7B%7B|{{).*?(%7D%7D|}})/gi, (text) =>
    text.replace(/(%[0-9A-F]{2})+/gi, decodeURIComponent),
  );
}

/** Whether each placeholder of a request is a value from another request's answer, or differs each time. */
const isFilledLater = (names: readonly string[], request: Request, { allowScripts }: HttpFile): boolean =>
  allowScripts === true ||
  [...JSON.stringify(request).matchAll(new RegExp(PLACEHOLDER, "g"))].every(
    ([, name = ""]) => name.startsWith("$") || isValueOf(names, name),
  );

/** Whether a value comes from the answer to one of the named requests. */
const isValueOf = (names: readonly string[], value: string): boolean =>
  names.some((name) => value.startsWith(name) || value.startsWith(variableOf(name)));

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
