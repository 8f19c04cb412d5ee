import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { UsageError } from "../../shared/errors.ts";
import { ENDPOINTS } from "../plan/endpoints.ts";
import { type LocalSpec, parseStart } from "../plan/targets.ts";

/** What the command line says of apps that are not ours. */
export interface AppOptions {
  readonly start?: string[];
  readonly cwd?: string;
  readonly env?: string[];
  readonly setup?: string;
  readonly ready?: string;
  readonly port?: number;
}

/** Prepares the apps, once. @throws UsageError */
export function appsOf(
  { start = [], cwd = ".", env = [], setup, ready, port }: AppOptions,
  endpoints: readonly string[] = [],
): LocalSpec[] {
  const given = Object.entries({ setup, ready, port, env: env[0] }).find(([, value]) => value !== undefined)?.[0];
  if (start.length === 0 && given) throw new UsageError(`--${given} is of an app: give --start 'NAME=COMMAND' as well`);
  const folder = resolve(cwd);
  if (!existsSync(folder)) throw new UsageError(`--cwd "${cwd}": there is no such folder`);
  const wrong = env.find((text) => !/^\w+=/.test(text));
  if (wrong !== undefined) throw new UsageError(`--env "${wrong}": write it as NAME=VALUE`);
  const variables = Object.fromEntries(env.map((text) => text.split(/=(.*)/s).slice(0, 2) as [string, string]));
  const settings = { cwd: folder, port, ready: ready ?? endpoints[0] ?? (ENDPOINTS[0] as string) };
  const apps = start.map((text) => parseStart(text, variables, settings));
  const names = apps.map(({ name }) => name);
  const twice = names.find((name, i) => names.indexOf(name) !== i);
  if (twice) throw new UsageError(`--start has two of the name ${twice}: give each a name of its own`);
  if (setup) prepare(setup, folder, variables);
  return apps;
}

function prepare(command: string, cwd: string, env: Record<string, string>): void {
  const { status, stdout, stderr } = spawnSync("sh", ["-c", command], {
    cwd,
    env: { ...process.env, ...env },
    encoding: "utf8",
  });
  if (status === 0) return;
  const last = `${stdout}${stderr}`.trim().split("\n").slice(-5).join("\n");
  throw new UsageError(`--setup "${command}" failed with ${status}: ${last}`);
}
