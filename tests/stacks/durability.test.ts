/** What was acknowledged stays: the suite of the ten over the servers in other languages that keep content items. */
import { durabilitySuite } from "../servers/durability-suite.ts";
import { stacksOf } from "./build.ts";

const stacks = stacksOf("content");

/** Each server with each driver or client. */
const groups = (of: "drivers" | "clients") =>
  stacks.flatMap(({ server: SERVER, processes, ...stack }) => {
    const envs = processes ? [{ SERVER }, { SERVER, WORKERS: "2" }] : [{ SERVER }];
    return stack[of].map((by) => ({ name: SERVER, by, envs }));
  });
const both = { sqlite: groups("drivers"), postgres: groups("clients") };
const kinds = (all: typeof both.sqlite) => all.map(({ name, by }, i) => ({ SERVER: name, by, odd: i % 2 > 0 }));

// A journal is SQLite's own, and the ten are killed with both.
durabilitySuite(both, { sqlite: kinds(both.sqlite), postgres: kinds(both.postgres) }, ["wal"]);
