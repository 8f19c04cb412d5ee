/** Words for what supports or limits the trust in a run: each finding has one wording, wherever it is shown. */
import type { Identity } from "../../shared/identity.ts";
import { SEQUENCE } from "../ask/endpoints.ts";
import type { Findings } from "../judge/findings.ts";
import type { Capacity, Manifest } from "../keep/manifest.ts";
import { promiseOf, type Slo } from "../plan/slo.ts";
import { capital, count, listed, notDetectable, percent, present, ratio, shortOf, warmingWords } from "./format.ts";
import type { Endpoint, Report } from "./report.ts";
import { type Line, labeled } from "./text.ts";

/** Servers that were measured twice. @param isDifferent those whose copies differ, or those whose copies do not */
export function twinsSay({ twins }: Findings, isDifferent: boolean): Line[] {
  const wanted = twins.filter(({ state }) => (state === "different") === isDifferent);
  return wanted.map(({ name, ratio: of }) => {
    const seen = `${name} measured twice: ${ratio(of, 3)} of itself`;
    if (!isDifferent) return ["Self-check", `${seen}, as it should be`];
    return `DO NOT TRUST THIS RUN: ${seen}. Something on this machine treated two copies of one server unequally.`;
  });
}

/** Maximum of rows that a line names with their causes. */
const NAMED = 3;

/** Verdicts that are on the card, with their servers, because the numbers are not those of the servers; others are in the tables. */
const ELSEWHERE = new Set(["network-bound", "bandwidth-bound", "rate-limited", "invalid", "service time"]);

export function limits(endpoints: readonly Endpoint[], where: "card" | "tables" | "all"): string[] {
  const remarks = endpoints.flatMap(({ endpoint, rows, remarks }) =>
    remarks.map(({ verdict, names, text }) => {
      const who = names.length === rows.length ? "all " : where === "tables" ? "" : `${listed(names)} `;
      return { verdict, text, where: `${who}at ${endpoint}` };
    }),
  );
  const wanted = remarks.filter(({ verdict }) => where === "all" || ELSEWHERE.has(verdict) === (where === "card"));
  return [...Map.groupBy(wanted, ({ verdict }) => verdict)].map(([verdict, of]) => {
    const places = of.map(({ where }) => where).join("; ");
    const causes = of.slice(0, NAMED).map(({ where, text }) => `${where}: ${text}`);
    const others = of.length > NAMED ? [`${of.length - NAMED} more`] : [];
    // Each invalid row has its own cause.
    const all = verdict === "invalid" ? [...causes, ...others].join("; ") : `${places}: ${of[0]?.text}`;
    return `${capital(verdict)}, so not ranked by requests/s: ${all}.`;
  });
}

/** Maximum of remarks on the card, because a run of many servers may have one for each. */
const MOST_REMARKS = 4;

export function notWarm({ endpoints, findings: { warming } }: Report): Line[] {
  const rows = endpoints.reduce((sum, { rows }) => sum + rows.length, 0);
  const named = warming.slice(0, NAMED).map(({ name, endpoint, by }) => `${name} at ${endpoint}: ${warmingWords(by)}`);
  const others = warming.length > NAMED ? "; …" : "";
  const which = `${warming.length} of ${rows} rows (${named.join("; ")}${others})`;
  return warming.length === 0 ? [] : [["Not warm", `${which}, so not ranked: raise --warmup`]];
}

export const otherWork = (part: number): string => `other work used ${percent(part)} of the CPU in the median slice`;

export function precision(endpoints: readonly Endpoint[]): Line[] {
  const least = ({ comparison }: Endpoint) => comparison?.smallestVisible ?? 0;
  const seen = endpoints.filter(({ comparison }) => comparison !== null).sort((a, b) => least(a) - least(b));
  const ends = seen.filter((_, i) => i === 0 || i === seen.length - 1);
  const span = ends.map((one) => `${percent(least(one))} (${shortOf(one.endpoint)})`).join(" to ");
  return labeled("Precision", span ? notDetectable(span) : null);
}

/** The card has a line "Noisy" if other work used more of the CPU than this. */
const NOISY = 0.1;
const RUNNING = "Running servers are not restarted, so intervals do not include the variance between restarts.";

/** Everything that limits the trust in a run, except twins that differ. @param isOne with one server nothing is ranked */
export function caveats(report: Report, isOne: boolean): Line[] {
  const { endpoints, findings, manifest } = report;
  const { taken, left, remarks, unranked, isRunning, busyAtRest } = findings;
  const shown = remarks.length > MOST_REMARKS ? MOST_REMARKS - 1 : MOST_REMARKS;
  const busy = listed(busyAtRest.map(({ name, cpu }) => `${name} uses ${percent(cpu)}`));
  return present<Line>([
    ...limits(endpoints, isOne ? "all" : "card"),
    ...left.map(({ name, restart, scenario, reason }) => {
      const at = scenario === null ? "at its start" : `at ${scenario}`;
      return `${name} is left out since restart ${restart}: it failed ${at}: ${reason}`;
    }),
    ...remarks.slice(0, shown),
    remarks.length > shown && `and ${remarks.length - shown} more remarks, in the .json file of the run`,
    unranked.length > 0 && !isOne && `${listed(unranked)}: not ranked; this requires two servers and two restarts.`,
    isRunning && RUNNING,
    ...promises(manifest),
    busy && `Idle, ${busy} of a core; no cost above includes that`,
    ...notWarm(report),
    taken !== null && taken >= NOISY && ["Noisy", otherWork(taken)],
    ...twinsSay(findings, false),
    ...precision(endpoints),
  ]);
}

/** Writes per request of the content API. */
const WRITES: Readonly<Record<string, number>> = { [SEQUENCE]: 3, "POST /content": 1, "POST /users": 1 };

/** How many requests or writes per second keep a promise about latency. @param who a server, perhaps with its driver */
export function capacitySays(who: string, endpoint: string, slo: Slo, capacity: Capacity): string {
  const { rate, low, high, starts, reason } = capacity;
  const promise = promiseOf(slo);
  const none =
    high === null ? `whether ${who} keeps ${promise} is not known` : `${who} keeps ${promise} at no rate tried`;
  if (rate === 0) return `${endpoint}: ${none}; ${reason}.`;
  const times = (requests: number) => {
    const writes = requests * (WRITES[endpoint] ?? 1);
    return writes < 100 ? writes.toFixed(1) : count(writes);
  };
  const interval = high === null ? "or more" : `(${times(low)}–${times(high)}, ${starts} restarts)`;
  const what = endpoint in WRITES ? "writes/s" : "requests/s";
  return `${endpoint}: ${who} is enough for ${times(rate)} ${what} ${interval} at ${promise}; in the last restart ${reason}.`;
}

export const capacities = (manifest: Manifest | null): string[] =>
  Object.entries(manifest?.capacities ?? {}).flatMap(([name, byEndpoint]) => {
    const store = manifest?.stores[name];
    const who = store ? `${name} (${store.driver})` : name;
    return Object.entries(byEndpoint).map(([endpoint, one]) => capacitySays(who, endpoint, one.slo, one));
  });

function promises(manifest: Manifest | null): string[] {
  const stores = Object.entries(manifest?.stores ?? {});
  return [...Map.groupBy(stores, ([, store]) => survival(store))].map(
    ([promise, all]) => `What ${listed(all.map(([name]) => name))} answered ${promise}.`,
  );
}

const CRASH = "survives a crash of the server";
const MACHINE = `${CRASH} and of the machine`;
const POWER = `${CRASH}; a machine that loses power`;
const CORRUPT = `${POWER} may lose it and corrupt the file`;
/** What SQLite promises, by journal and synchronous (sqlite.org/pragma.html#pragma_synchronous). */
const SYNCHRONOUS: Readonly<Record<string, string>> = {
  ...{ "wal full": MACHINE, "wal extra": MACHINE, "delete extra": MACHINE, "wal off": CORRUPT, "delete off": CORRUPT },
  "wal normal": `${POWER} may lose the latest, the file stays whole`,
  "delete normal": `${POWER} may lose the latest and, on an old file system, corrupt the file`,
  "delete full": `${POWER} at once may lose the very latest, the file stays whole`,
};

function survival({ name, file, journal, synchronous }: Identity["store"]): string {
  if (name === "memory" || file === ":memory:") return "is gone when the server ends";
  if (name === "postgres") return `${MACHINE} (Postgres with synchronous_commit, its default)`;
  return `${SYNCHRONOUS[`${journal} ${synchronous}`]} (SQLite, journal ${journal}, synchronous ${synchronous})`;
}
