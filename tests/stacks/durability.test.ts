/** Acknowledged writes survive: the suite of the ten servers on servers in other languages that store content. */
import { durabilitySuite } from "../servers/durability-suite.ts";
import { ownOf, stacksOf } from "./build.ts";

const stacks = stacksOf("content");

/** Each server with each of its own drivers or clients. */
const groups = (of: "drivers" | "clients") =>
  stacks.flatMap(({ server: SERVER, runtime, processes, ...stack }) => {
    const envs = processes ? [{ SERVER }, { SERVER, WORKERS: "2" }] : [{ SERVER }];
    return ownOf(runtime, stack[of]).map((by) => ({ name: SERVER, by, envs }));
  });
const both = { sqlite: groups("drivers"), postgres: groups("clients") };
const kinds = (all: typeof both.sqlite) => all.map(({ name, by }, i) => ({ SERVER: name, by, odd: i % 2 > 0 }));

// Only one journal mode, because it is a matter of SQLite, and the tests of the ten servers use both.
durabilitySuite(both, { sqlite: kinds(both.sqlite), postgres: kinds(both.postgres) }, ["wal"]);
