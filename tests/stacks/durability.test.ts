/** What was acknowledged stays: the suite of the ten over the servers in other languages that keep content items. */
import { STACKS } from "../../bench/ask/targets.ts";
import { durabilitySuite } from "../servers/durability-suite.ts";
import { buildAll, firstOfEach } from "./build.ts";

const builds = buildAll();
const stacks = Object.entries(STACKS).filter(([, { workloads }]) => workloads.includes("content"));

/** One server of each language with each driver or client: those of a language share what keeps content items. */
const groups = (of: "drivers" | "clients") => {
  const all = stacks.flatMap(([SERVER, stack]) => {
    const { isBuilt = false, reason = "" } = builds.get(SERVER) ?? {};
    const envs = stack.processes ? [{ SERVER }, { SERVER, WORKERS: "2" }] : [{ SERVER }];
    const { runtime } = stack;
    return stack[of].map((by) => ({ runtime, SERVER, name: SERVER, by, envs, reason: isBuilt ? "" : reason }));
  });
  return firstOfEach(all, ({ runtime, by }) => `${runtime} ${by}`);
};
const both = { sqlite: groups("drivers"), postgres: groups("clients") };
const kinds = (all: typeof both.sqlite) =>
  all.filter(({ reason }) => reason === "").map(({ SERVER, by }, i) => ({ SERVER, by, odd: i % 2 > 0 }));

durabilitySuite(both, { sqlite: kinds(both.sqlite), postgres: kinds(both.postgres) });
