import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { UsageError } from "../../shared/errors.ts";
import type { Request, Requests } from "../load/request.ts";
import { callersEnvironment, fromCaller } from "./caller.ts";
import { ENDPOINTS } from "./endpoints.ts";
import { readRequests, requestOf, withOptions } from "./requests.ts";
import { HeadError, type Side } from "./sides.ts";
import { type LocalSpec, parseStart } from "./targets.ts";

/** What the command line says of apps that are not ours. */
export interface AppOptions {
  readonly start?: string[];
  readonly cwd?: string;
  readonly env?: string[];
  readonly setup?: string;
  readonly ready?: string;
  readonly port?: number;
  /** Then nothing is prepared. */
  readonly dryRun?: boolean;
}

/** What the command line says of requests. */
export interface RequestOptions {
  readonly endpoints?: string[];
  readonly header?: string[];
  readonly body?: string;
  readonly requests?: string;
}

/** @returns the endpoints to load, none where the usual ones are, and what is asked there. @throws UsageError */
export function askedOf({ endpoints = [], header = [], body, requests: file }: RequestOptions) {
  const inFile = file === undefined ? {} : readRequests(file);
  const all = [...endpoints, ...Object.keys(inFile)];
  if (all.length === 0 && (header.length > 0 || body !== undefined))
    throw new UsageError("--header and --body are of --endpoints: give them as well, e.g. 'POST /login'");
  const requests: Requests = { ...withOptions(endpoints, header, body), ...inFile };
  return { endpoints: all, ...(Object.keys(requests).length > 0 && { requests }) };
}

type Asked = ReturnType<typeof askedOf>;

/** What an app answers when it is up: --ready, else the first thing that it is asked for. */
const firstOf = ({ endpoints, requests }: Asked, ready?: string): Request =>
  ready === undefined
    ? requestOf(endpoints[0] ?? (ENDPOINTS[0] as string), requests)
    : { method: "GET", path: ready, headers: {} };

/** Prepares the apps, once. @throws UsageError */
export function appsOf(
  { start = [], cwd = ".", env = [], setup, ready, port, dryRun }: AppOptions,
  asked: Asked,
): LocalSpec[] {
  const given = Object.entries({ setup, ready, port, env: env[0] }).find(([, value]) => value !== undefined)?.[0];
  if (start.length === 0 && given) throw new UsageError(`--${given} is of an app: give --start 'NAME=COMMAND' as well`);
  const folder = fromCaller(cwd);
  if (!existsSync(folder)) throw new UsageError(`--cwd "${cwd}": there is no such folder`);
  const variables = variablesOf(env);
  const settings = { cwd: folder, port, ready: firstOf(asked, ready) };
  const apps = start.map((text) => parseStart(text, variables, settings));
  const names = apps.map(({ name }) => name);
  const twice = names.find((name, i) => names.indexOf(name) !== i);
  if (twice) throw new UsageError(`--start has two of the name ${twice}: give each a name of its own`);
  if (setup && !dryRun) prepare(setup, folder, variables);
  return apps;
}

/** One app as it is in two folders, each prepared there. @param sides the one before a change, and the one after it */
export function appsIn(
  sides: readonly Side[],
  { start = [], cwd = ".", env = [], setup, ready, port }: AppOptions,
  asked: Asked,
): LocalSpec[] {
  const [command] = start;
  if (command === undefined || start.length > 1)
    throw new UsageError("--ref starts one app from both sides: give --start 'COMMAND', once");
  if (port) throw new UsageError(`--port ${port} is of one server, and both sides run: let the app read PORT`);
  const variables = variablesOf(env);
  return sides.map(({ name, folder }, i) => {
    const inside = join(folder, cwd);
    if (!existsSync(inside)) throw new UsageError(`--cwd "${cwd}": ${name} has no such folder`);
    // What prepares the commit before has to prepare the later one as well.
    if (setup) prepare(setup, inside, variables, i === 0 ? UsageError : HeadError);
    const app = { cwd: inside, ready: firstOf(asked, ready) };
    return { kind: "local", name, command: ["sh", "-c", command], env: variables, app };
  });
}

/** @throws UsageError */
function variablesOf(env: readonly string[]): Record<string, string> {
  const wrong = env.find((text) => !/^\w+=/.test(text));
  if (wrong !== undefined) throw new UsageError(`--env "${wrong}": write it as NAME=VALUE`);
  return Object.fromEntries(env.map((text) => text.split(/=(.*)/s).slice(0, 2) as [string, string]));
}

function prepare(command: string, cwd: string, env: Record<string, string>, Mistake = UsageError): void {
  const { status, stdout, stderr } = spawnSync("sh", ["-c", command], {
    cwd,
    env: { ...callersEnvironment(), ...env },
    encoding: "utf8",
  });
  if (status === 0) return;
  const last = `${stdout}${stderr}`.trim().split("\n").slice(-5).join("\n");
  throw new Mistake(`--setup "${command}" failed with ${status} in ${cwd}: ${last}`);
}
