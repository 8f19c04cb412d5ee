import type { Identity } from "../../shared/identity.ts";
import { SEQUENCE } from "../ask/endpoints.ts";
import type { Findings } from "../judge/findings.ts";
import { type Interval, stateOf } from "../judge/statistics.ts";
import type { Manifest } from "../keep/manifest.ts";
import { promiseOf } from "../plan/slo.ts";
import { capital, costWord, count, listed, NOT_RANKED, percent, ratio, twinsAmong, warmingWords } from "./format.ts";
import type { Endpoint } from "./report.ts";

/** What a run says, in plain words: one thing per line, most useful first. */
export function answerOf(endpoints: readonly Endpoint[], findings: Findings, manifest: Manifest | null): string[] {
  return [
    ...twinSays(findings),
    ...gone(findings),
    ...findings.remarks.map((text) => `${text}.`),
    ...notWarm(findings),
    ...capacities(manifest),
    ...firsts(endpoints),
    network(endpoints),
    ...effects(endpoints),
    ...neverTold(endpoints),
    ...limits(endpoints),
    ...promises(manifest),
    ...atRest(findings),
    ...circumstances(findings),
  ];
}

/** Whose numbers are not those of a warm server. */
function notWarm({ warming }: Findings): string[] {
  if (warming.length === 0) return [];
  const found = warming.map(({ name, endpoint, by }) => `${name} at ${endpoint} (${warmingWords(by)})`);
  return [`Still warming, so not ranked and not called different from any: ${found.join("; ")}. Raise --warmup.`];
}

/** Targets that ended, or answered no more. */
export const gone = ({ left }: Findings): string[] =>
  left.map(({ name, restart, scenario, reason }) => {
    const at = scenario === null ? "at its start" : `at ${scenario}`;
    return `${name} is left out since restart ${restart}: it was gone ${at}: ${reason}`;
  });

/** What servers do while they are asked nothing. */
const atRest = ({ busyAtRest }: Findings): string[] =>
  busyAtRest.length === 0
    ? []
    : [
        `While they are asked nothing ${listed(busyAtRest.map(({ name, cpu }) => `${name} uses ${percent(cpu)}`))} of a core, which is in no cost above.`,
      ];

/** Writes per request of the content API. */
const WRITES: Readonly<Record<string, number>> = { [SEQUENCE]: 3, "POST /content": 1, "POST /users": 1 };

/** Up to how many requests or writes per second a promise about latency is kept. */
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

/** Endpoints of one kind of work, by how their paths begin. */
const KINDS: Readonly<Record<string, string>> = { "/sqlite/": "JSON from SQLite" };

/** Who needs the least CPU time, or time if that is not known, for each kind of work. */
function firsts(endpoints: readonly Endpoint[]): string[] {
  const twins = twinsAmong(endpoints);
  const compared = endpoints.flatMap(({ endpoint, by, comparison }) =>
    comparison ? [{ endpoint, by, ...comparison }] : [],
  );
  const start = (endpoint: string) => Object.keys(KINDS).find((start) => endpoint.startsWith(start)) ?? endpoint;
  return [...Map.groupBy(compared, ({ endpoint }) => start(endpoint))].map(([start, of]) => {
    const [only] = of;
    const cost = `${costWord(of)} per request`;
    const visible = of.map(({ smallestVisible }) => smallestVisible).sort((a, b) => a - b);
    const sight = [...new Set([visible[0], visible.at(-1)].map((part) => percent(part as number)))].join(" to ");
    const winners = of.flatMap(({ standings }) => standings.filter(({ first, name }) => first && !twins.has(name)));
    const wins = [...Map.groupBy(winners, ({ name }) => name)]
      .map(([name, times]) => ({ name, times: times.length }))
      .sort((a, b) => b.times - a.times || (a.name < b.name ? -1 : 1));
    if (only && of.length === 1) {
      const verb = wins.length > 1 ? "tie for" : "needs";
      const next = only.standings.find(({ first, rank, name }) => !first && rank && !twins.has(name));
      const than = next ? `; the next, ${next.name}, needs ${ratio(next.ratioToBest)} times as much` : "";
      return `${only.endpoint}: ${listed(wins.map(({ name }) => name))} ${verb} the least ${cost}${than} (differences below ${sight} are not detectable).`;
    }
    const byTimes = [...Map.groupBy(wins, ({ times }) => times)].map(
      ([times, all]) => `${listed(all.map(({ name }) => name))} at ${times}`,
    );
    return `${KINDS[start] ?? start}, ${of.length} endpoints: first or tied for it by ${cost} are ${byTimes.join(", ")}, no other at any (differences below ${sight} are not detectable).`;
  });
}

/** Endpoints that do without. */
const NO_DATABASE = new Set(["/plain", "/html-template"]);

/** Each choice with what it costs at the endpoints where it matters: a driver only where it is asked. */
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

/** What each choice costs or gains: at the endpoints where it matters least and most. */
function effects(endpoints: readonly Endpoint[]): string[] {
  return choicesOf(endpoints).flatMap(({ to, from, factor, seen, compared, different }) => {
    const waits = factor === "workers" || factor === "settings" || compared.length === 0;
    const rates = waits ? seen.flatMap(({ endpoint, goodput }) => (goodput ? [{ endpoint, of: goodput }] : [])) : [];
    const ranges = [...extremes(compared, "CPU time"), ...extremes(rates, "requests/s")].join("; ");
    const shown = compared.length > 0 ? different : rates.filter(({ of }) => stateOf(of) === "different").length;
    const at = `different at ${shown} of ${compared.length || rates.length} endpoints`;
    return ranges === "" ? [] : [`${to} instead of ${from}: ${ranges}; ${at}.`];
  });
}

/** `CPU time × 0.64 (0.61–0.68) at /plain to × 0.83 (0.78–0.88) at /html-template` */
function extremes(found: readonly { readonly endpoint: string; readonly of: Interval }[], what: string): string[] {
  const sorted = found.toSorted((a, b) => a.of.estimate - b.of.estimate);
  const [least, most] = [sorted[0], sorted.at(-1)].map((one) => one && `× ${ratio(one.of)} at ${one.endpoint}`);
  return least === undefined ? [] : [`${what} ${least === most ? least : `${least} to ${most}`}`];
}

/** Pairs that no endpoint told apart. */
function neverTold(endpoints: readonly Endpoint[]): string[] {
  const pairs = endpoints.flatMap(({ comparison, rows }) => {
    const left = new Set(rows.flatMap(({ name, warming, twinOf }) => (warming || twinOf ? [name] : [])));
    return (comparison?.pairs ?? []).filter(({ a, b }) => !left.has(a) && !left.has(b));
  });
  const alike = [...Map.groupBy(pairs, ({ a, b }) => `${a} and ${b}`)]
    .filter(([, of]) => of.every(({ state }) => state !== "different"))
    .map(([pair]) => pair);
  return alike.length > 0 ? [`Not distinguishable at any endpoint: ${alike.join("; ")}.`] : [];
}

/** Whether the network was what was measured. */
function network(endpoints: readonly Endpoint[]): string {
  const verdicts = endpoints.flatMap(({ rows }) => rows.map(({ verdict }) => verdict));
  const counts = [...Map.groupBy(verdicts, (verdict) => verdict)]
    .sort(([, a], [, b]) => b.length - a.length)
    .map(([verdict, of]) => `${of.length} ${verdict}`);
  const was = verdicts.some((verdict) => verdict === "network-bound" || verdict === "bandwidth-bound");
  return `The network was ${was ? "a" : "never the"} limit: of ${verdicts.length} measurements of a server at an endpoint, ${listed(counts)}.`;
}

/** Where requests per second say nothing of the servers. */
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
