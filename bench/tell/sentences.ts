import type { Identity } from "../../shared/identity.ts";
import { SEQUENCE } from "../ask/endpoints.ts";
import type { Findings } from "../judge/findings.ts";
import { stateOf } from "../judge/statistics.ts";
import type { Manifest } from "../keep/manifest.ts";
import { promiseOf } from "../plan/slo.ts";
import { capital, count, listed, NOT_RANKED, percent, ratio } from "./format.ts";
import type { Endpoint } from "./report.ts";

/** Targets that ended, or no longer answered. */
export const gone = ({ left }: Findings): string[] =>
  left.map(({ name, restart, scenario, reason }) => {
    const at = scenario === null ? "at its start" : `at ${scenario}`;
    return `${name} is left out since restart ${restart}: it was gone ${at}: ${reason}`;
  });

/** A run of many servers may have one remark for each. */
const MOST_REMARKS = 4;

/** What the run said of how targets are measured: the first remarks, and how many more there are. */
export const remarksOf = ({ remarks }: Findings): string[] =>
  remarks.length <= MOST_REMARKS
    ? [...remarks]
    : [
        ...remarks.slice(0, MOST_REMARKS - 1),
        `and ${remarks.length - MOST_REMARKS + 1} more remarks, in the .json file of the run`,
      ];

/** What servers use while they are idle. */
export const atRest = ({ busyAtRest }: Findings): string[] =>
  busyAtRest.length === 0
    ? []
    : [
        `Idle, ${listed(busyAtRest.map(({ name, cpu }) => `${name} uses ${percent(cpu)}`))} of a core; no cost above includes that`,
      ];

/** Writes per request of the content API. */
const WRITES: Readonly<Record<string, number>> = { [SEQUENCE]: 3, "POST /content": 1, "POST /users": 1 };

/** How many requests or writes per second keep a promise about latency. */
export function capacities(manifest: Manifest | null): string[] {
  return Object.entries(manifest?.capacities ?? {}).flatMap(([name, byEndpoint]) =>
    Object.entries(byEndpoint).map(([endpoint, { rate, low, high, starts, reason, slo }]) => {
      const writes = WRITES[endpoint] ?? 1;
      const what = endpoint in WRITES ? "writes/s" : "requests/s";
      const promise = promiseOf(slo);
      const store = manifest?.stores[name];
      const who = store ? `${name} (${store.driver})` : name;
      if (rate === 0 && high === null) return `${endpoint}: whether ${who} keeps ${promise} is not known; ${reason}.`;
      if (rate === 0) return `${endpoint}: ${who} does not keep ${promise} at any rate tried; ${reason}.`;
      const interval = high === null ? "or more" : `(${count(low * writes)}–${count(high * writes)}, ${starts} starts)`;
      return `${endpoint}: ${who} is enough for ${count(rate * writes)} ${what} ${interval} at ${promise}; in the last start ${reason}.`;
    }),
  );
}

/** What a commit that was answered survives, by store. */
export function promises(manifest: Manifest | null): string[] {
  const of = Object.entries(manifest?.stores ?? {}).map(([name, store]) => ({ name, promise: survival(store) }));
  return [...Map.groupBy(of, ({ promise }) => promise)].map(
    ([promise, all]) => `What ${listed(all.map(({ name }) => name))} answered ${promise}.`,
  );
}

const CRASH = "survives a crash of the server";
const MACHINE = `${CRASH} and of the machine`;
/** What SQLite promises, by journal and synchronous (sqlite.org/pragma.html#pragma_synchronous). */
const SYNCHRONOUS: Readonly<Record<string, string>> = {
  "wal off": `${CRASH}; a machine that loses power may lose it and corrupt the file`,
  "wal normal": `${CRASH}; a machine that loses power may lose the latest, the file stays whole`,
  "wal full": MACHINE,
  "wal extra": MACHINE,
  "delete off": `${CRASH}; a machine that loses power may lose it and corrupt the file`,
  "delete normal": `${CRASH}; a machine that loses power may lose the latest and, on an old file system, corrupt the file`,
  "delete full": `${CRASH}; a machine that loses power at once may lose the very latest, the file stays whole`,
  "delete extra": MACHINE,
};

function survival({ name, file, journal, synchronous }: Identity["store"]): string {
  if (name === "memory" || file === ":memory:") return "is gone when the server ends";
  if (name === "postgres") return `${MACHINE} (Postgres with synchronous_commit, as it comes)`;
  return `${SYNCHRONOUS[`${journal} ${synchronous}`]} (SQLite, journal ${journal}, synchronous ${synchronous})`;
}

/** Endpoints without a database. */
const NO_DATABASE = new Set(["/plain", "/html-template"]);

/** Each choice with what it costs at the endpoints where it matters: a driver only if it is asked. */
export function choicesOf(endpoints: readonly Endpoint[]) {
  const all = endpoints.flatMap(({ endpoint, effects }) =>
    effects
      .filter(({ factor }) => factor !== "driver" || !NO_DATABASE.has(endpoint))
      .map((effect) => ({ endpoint, ...effect })),
  );
  return [...Map.groupBy(all, ({ to, from }) => `${to} ÷ ${from}`).values()].map((seen) => {
    const [{ to, from, factor }] = seen as [(typeof seen)[0]];
    const compared = seen.flatMap(({ endpoint, cpu }) => (cpu ? [{ endpoint, of: cpu }] : []));
    const different = compared.filter(({ of }) => stateOf(of) === "different").length;
    return { to, from, factor, seen, compared, different, on: null as string | null };
  });
}

/** The same, but with what costs differently on two runtimes once for each. */
export const splitChoicesOf = (endpoints: readonly Endpoint[]): ReturnType<typeof choicesOf> =>
  choicesOf(endpoints).flatMap((choice) => {
    if (!choice.seen.some(({ interacts }) => interacts)) return [choice];
    const runtimes = new Set(choice.seen.flatMap(({ byRuntime }) => byRuntime.map(({ runtime }) => runtime)));
    return [...runtimes].sort().map((on) => {
      const compared = choice.seen.flatMap(({ endpoint, byRuntime }) =>
        byRuntime.flatMap(({ runtime, cpu }) => (runtime === on ? [{ endpoint, of: cpu }] : [])),
      );
      const different = compared.filter(({ of }) => stateOf(of) === "different").length;
      return { ...choice, compared, different, on };
    });
  });

/** Endpoints at which requests per second say nothing about the servers. */
export function limits(endpoints: readonly Endpoint[]): string[] {
  const remarks = endpoints.flatMap(({ endpoint, rows, remarks }) =>
    remarks.map(({ verdict, names, text }) => ({
      verdict,
      text,
      where: `${names.length === rows.length ? "all" : listed(names)} at ${endpoint}`,
    })),
  );
  return [...Map.groupBy(remarks, ({ verdict }) => verdict)].map(
    ([verdict, of]) =>
      `${capital(verdict)}, ${NOT_RANKED}: ${of.map(({ where }) => where).join("; ")}: ${of[0]?.text}.`,
  );
}

/** How a server that was measured twice compares with itself, over all endpoints together. */
export function twinSays({ twins }: Findings): string[] {
  return twins.map(({ name, ratio: of, state, endpoints }) => {
    const seen = `${name} measured twice: ${ratio(of, 3)} of itself over ${endpoints} endpoints`;
    return state === "different"
      ? `DO NOT TRUST THIS RUN: ${seen}. Something on this machine treated two copies of one server unequally.`
      : `A/A twin: ${seen}, as it should be.`;
  });
}

export const circumstances = ({ unranked, isRunning }: Findings): string[] => [
  ...(unranked.length > 0 ? [`${listed(unranked)}: not ranked; that takes two servers and two restarts.`] : []),
  ...(isRunning
    ? [
        "Servers that run already are not restarted: how much they differ from start to start is not in these intervals.",
      ]
    : []),
];
