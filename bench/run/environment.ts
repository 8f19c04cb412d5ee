/** Versions, sources and data of a run, and what of them a continued run would mix. */
import { existsSync } from "node:fs";
import { isOurs } from "../ask/targets.ts";
import { run } from "../host/command.ts";
import { changesOf, commitOf } from "../host/commit.ts";
import { digestOf } from "../host/folders.ts";
import { type Machine, readMachine } from "../host/machine/identity.ts";
import type { Manifest } from "../keep/manifest.ts";
import type { Plan } from "../plan/plan.ts";
import { pgbouncerVersion } from "./stores/pooler.ts";

export type Environment = Manifest["environment"];

/** What has to be the same in all restarts of a run. */
export async function environmentOf({ targets }: Pick<Plan, "targets">): Promise<Environment> {
  const ask = (...command: string[]) =>
    run(command).then(
      ({ stdout }) => stdout.trim() || null,
      () => null,
    );
  const data = process.env.DB_FILE || "data.db";
  const [node, fortio, k6, commit] = await Promise.all([
    ask("node", "--version"),
    ask("fortio", "version"),
    ask("k6", "version"),
    commitOf("."),
  ]);
  return {
    bun: process.versions.bun,
    node,
    fortio,
    k6: k6?.split(" ")[1] ?? null,
    pgbouncer: pgbouncerVersion(),
    commit,
    changesSha256: await changesOf(".", commit),
    dataSha256: targets.some(isOurs) && existsSync(data) ? await digestOf(data) : null,
  };
}

/** Names of what is compared as a digest. */
const DIGESTS: Readonly<Record<string, string>> = {
  changesSha256: "the uncommitted changes",
  dataSha256: "the data of the servers",
};
/** These two exist wherever this project is: the others were not there because the run did not need them. */
const ALWAYS = ["commit", "changesSha256"];

/** @returns how the versions, the sources, the data and the machine differ from those of a run, e.g. `bun 1.4.5 → 1.4.6` */
export function changesSince({ environment, machine }: Manifest, now: Environment, here = readMachine()): string[] {
  const versions = ["bun", "node", "fortio", "k6", "pgbouncer", "commit", "changesSha256", "dataSha256"].flatMap(
    (name) => {
      const [before = null, after = null] = [environment[name], now[name]];
      if (before === after || (before === null && !ALWAYS.includes(name))) return [];
      return [DIGESTS[name] ?? `${name} ${before ?? "none"} → ${after ?? "none"}`];
    },
  );
  const fields = Object.keys(here) as (keyof Machine)[];
  const machines = fields.flatMap((field) => {
    const [before, after] = [machine[field], here[field]];
    if (JSON.stringify(before) === JSON.stringify(after)) return [];
    return [typeof after === "object" ? `the machine's ${field}` : `the machine's ${field} ${before} → ${after}`];
  });
  return [...versions, ...machines];
}
