import { statSync } from "node:fs";
import { join } from "node:path";
import { UsageError } from "../../shared/errors.ts";
import { start } from "../host/command.ts";
import { markApp, sweep } from "../host/sweep.ts";
import type { Request, Requests } from "../load/request.ts";
import { hiddenText } from "../load/secrets.ts";
import { callersEnvironment, fromCaller } from "./caller.ts";
import { ENDPOINTS } from "./endpoints.ts";
import type { HttpFile } from "./http-file.ts";
import { headersFrom, readRequests, requestOf, withOptions } from "./requests.ts";
import { HeadError, type Side } from "./sides.ts";
import { type AppSettings, type LocalSpec, parseStart } from "./targets.ts";

/** Command-line options for apps of the user. */
export interface AppOptions {
  readonly start?: string[];
  readonly cwd?: string;
  readonly env?: string[];
  readonly setup?: string;
  readonly ready?: string;
  readonly port?: number;
  readonly insecure?: true;
  /** If given, --setup does not run. */
  readonly dryRun?: boolean;
}

/** Command-line options for requests. */
export interface RequestOptions {
  readonly endpoints?: string[];
  readonly header?: string[];
  readonly body?: string;
  readonly requests?: string;
  readonly environment?: string;
  readonly allowScripts?: true;
}

/** What a run requests. */
export interface ToAsk {
  /** Empty for the default endpoints. */
  readonly endpoints: readonly string[];
  readonly requests?: Requests;
  readonly live?: HttpFile;
  /** Messages about what was left out of a file. */
  readonly notes: readonly string[];
}

/** @param otherwise endpoints if none are given @throws UsageError */
export async function askedOf(options: RequestOptions, otherwise: readonly string[] = []): Promise<ToAsk> {
  const { endpoints = [], header = [], body, requests: file, environment, allowScripts } = options;
  const inFile =
    file === undefined
      ? undefined
      : await readRequests({ file, environment, allowScripts, headers: headersFrom(header) });
  const all = [...endpoints.map((endpoint) => hiddenText(endpoint)), ...Object.keys(inFile?.requests ?? {})];
  if (all.length === 0 && (header.length > 0 || body !== undefined))
    throw new UsageError("--header and --body require --endpoints, e.g. --endpoints 'POST /login'");
  const requests: Requests = { ...withOptions(endpoints, header, body), ...inFile?.requests };
  return {
    endpoints: all.length > 0 ? all : otherwise,
    ...(Object.keys(requests).length > 0 && { requests }),
    ...(inFile?.live && { live: inFile.live }),
    notes: inFile?.notes ?? [],
  };
}

/**
 * The request that is repeated until an app is up: --ready, else the first GET, or the first request, without placeholders.
 * @returns null if every request needs the answer of another: then any answer at / is enough
 */
function firstOf({ endpoints, requests }: ToAsk, ready?: string): Request | null {
  if (ready !== undefined && !ready.startsWith("/")) throw new UsageError(`--ready "${ready}": a path starts with /`);
  if (ready !== undefined) return { method: "GET", path: ready, headers: {} };
  const all = (endpoints.length > 0 ? endpoints : ENDPOINTS).map((endpoint) => requestOf(endpoint, requests));
  const complete = all.filter((request) => !JSON.stringify(request).includes("{{"));
  return complete.find(({ method }) => method === "GET") ?? complete[0] ?? null;
}

const settingsOf = (
  cwd: string,
  asked: ToAsk,
  { ready, insecure }: { readonly ready: string | undefined; readonly insecure: true | undefined },
): AppSettings => ({
  cwd,
  ready: firstOf(asked, ready),
  isReadyGiven: ready !== undefined,
  ...(insecure && { insecure }),
});

const isFolder = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;

/** Reads the options of the apps, and runs --setup once. @throws UsageError */
export async function appsOf(
  { start = [], cwd = ".", env = [], setup, ready, port, insecure, dryRun }: AppOptions,
  asked: ToAsk,
  signal: AbortSignal,
): Promise<LocalSpec[]> {
  const given = Object.entries({ setup, ready, port, env: env[0] }).find(([, value]) => value !== undefined)?.[0];
  if (start.length === 0 && given) throw new UsageError(`--${given} requires --start 'NAME=COMMAND'`);
  const folder = fromCaller(cwd);
  if (start.length > 0 && !isFolder(folder)) throw new UsageError(`--cwd "${cwd}": there is no such folder`);
  const variables = variablesOf(env);
  const settings = { ...settingsOf(folder, asked, { ready, insecure }), port };
  const apps = start.map((text) => parseStart(text, variables, settings));
  const names = apps.map(({ name }) => name);
  const twice = names.find((name, i) => names.indexOf(name) !== i);
  if (twice) throw new UsageError(`--start has two apps named ${twice}: give each its own name`);
  if (setup && !dryRun) await prepare(setup, folder, variables, signal);
  return apps;
}

/** One app in two folders; --setup runs in each. @param sides before and after a change */
export async function appsIn(
  sides: readonly Side[],
  { start = [], cwd = ".", env = [], setup, ready, port, insecure }: AppOptions,
  asked: ToAsk,
  signal: AbortSignal,
): Promise<LocalSpec[]> {
  const [command] = start;
  if (command === undefined || start.length > 1)
    throw new UsageError("--ref starts one app from both sides: give --start 'COMMAND', once");
  // NAME= in small letters is a name, not a variable for the shell; except variables such as http_proxy.
  const name = /^(?!\w*_proxy=)([a-z][\w.-]*)=/.exec(command)?.[0];
  if (name) throw new UsageError(`--start "${command}": with --ref it has no name: leave out "${name}"`);
  if (port) throw new UsageError(`--port ${port} fits one server, and both sides run at once: let the app read PORT`);
  const variables = variablesOf(env);
  const specs: LocalSpec[] = [];
  for (const [i, { name, folder }] of sides.entries()) {
    const inside = join(folder, cwd);
    if (!isFolder(inside)) throw new UsageError(`--cwd "${cwd}": ${name} has no such folder`);
    // If --setup works before the change, it must work after it as well.
    if (setup) await prepare(setup, inside, variables, signal, i === 0 ? UsageError : HeadError);
    const app = settingsOf(inside, asked, { ready, insecure });
    specs.push({ kind: "local", name, command: ["sh", "-c", command], env: variables, app });
  }
  return specs;
}

/** @throws UsageError */
function variablesOf(env: readonly string[]): Record<string, string> {
  const wrong = env.find((text) => !/^[^=]+=/.test(text));
  if (wrong !== undefined) throw new UsageError(`--env "${wrong}": write it as NAME=VALUE`);
  const port = env.find((text) => text.startsWith("PORT="));
  if (port) throw new UsageError(`--env "${port}": each server gets a port of its own: give --port, or leave it out`);
  return Object.fromEntries(env.map((text) => text.split(/=(.*)/s).slice(0, 2) as [string, string]));
}

/** Runs --setup, and shows its output on stderr. */
async function prepare(
  command: string,
  cwd: string,
  env: Record<string, string>,
  signal: AbortSignal,
  Mistake = UsageError,
): Promise<void> {
  sweep(); // an app that a killed run left may hold a lock or a port
  console.error(`setup in ${cwd}: ${command}`);
  const mark = markApp();
  const environment = { ...callersEnvironment(), ...env, ...mark.env };
  const { ended } = start(["sh", "-c", command], { cwd, env: environment, signal, shown: true });
  const { code } = await ended.finally(() => signal.aborted && mark.end());
  if (code !== 0) throw new Mistake(`--setup "${command}" failed with ${code} in ${cwd}: see above`);
}
