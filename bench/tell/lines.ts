/** One line each: what a plan will do, what came out of `compare`, `tax`, `--slo` and `self-test`. */
import { isHere } from "../ask/targets.ts";
import type { Cores } from "../host/cores.ts";
import { EXIT } from "../judge/gate.ts";
import type { Outcome } from "../judge/outcomes.ts";
import { meanInterval, median, proportionInterval } from "../judge/statistics.ts";
import type { Capacity, Manifest } from "../keep/manifest.ts";
import type { Plan } from "../plan/plan.ts";
import { promiseOf, type Slo } from "../plan/slo.ts";
import type { Idle } from "../run/idle.ts";
import type { Target } from "../run/targets/target.ts";
import type { AloneFinding } from "../self-test/alone.ts";
import type { GateFinding } from "../self-test/gates.ts";
import type { Finding } from "../self-test/self-test.ts";
import { count, percent, ratio } from "./format.ts";
import { renderText } from "./text.ts";

/** What a plan will do, how long and on which cores. */
export function describe(plan: Plan, cores: Cores | null): string {
  const { targets, scenarios, connections, agents, amount } = plan;
  const where = () => {
    if (agents.length > 0) return `; load from ${agents.join(", ")}`;
    if (!targets.every(isHere)) return "";
    if (cores === null) return "; servers and generator share the cores";
    const pinned = targets.every(({ kind }) => kind !== "url");
    return `; generator on cores ${cores.generator}, servers on ${pinned ? cores.server : "whichever they choose"}`;
  };
  const minutes = amount.minutes < 1 ? `${Math.round(amount.minutes * 60)} s` : `${amount.minutes} min`;
  const many = (n: number, what: string) => `${n} ${what}${n === 1 ? "" : "s"}`;
  return `${many(targets.length, "server")} × ${many(scenarios.length, "endpoint")}, ${connections} connections: ${minutes}, as many restarts as fit, at least two${where()}`;
}

/** What will be started or loaded, and at what. */
export const targetLines = ({ targets, scenarios }: Plan): string[] => [
  `servers: ${targets.map((spec) => (spec.kind === "url" && spec.name !== spec.url ? `${spec.name} (${spec.url})` : spec.name)).join(" ")}`,
  `endpoints: ${scenarios.map(({ name }) => name).join(" ")}`,
  ...(targets.some((spec) => spec.kind === "local" && spec.app && !("NODE_ENV" in spec.env))
    ? [`environment of apps: yours, with NODE_ENV=${process.env.NODE_ENV ?? "production"}`]
    : []),
];

/** One line for two targets at one endpoint. */
export function outcome(pair: string, one: Outcome, { seconds }: Pick<Manifest, "seconds">): string {
  const { endpoint, by, ratio: of, state, logRatios, smallestVisible, isWarming } = one;
  if (logRatios.length === 0)
    return `${pair} ${endpoint}: not measured in ${seconds.total.toFixed(0)} s: requests failed, or a server was gone`;
  const cold = isWarming ? "; one was still warming: raise --warmup" : "";
  const visible =
    smallestVisible < 1
      ? `differences below ${percent(smallestVisible)} are not detectable`
      : "too few to detect a difference";
  const what = by === "cpu" ? "CPU time per request" : "time per request";
  return `${pair} ${endpoint}: ${ratio(of, 3)} of the ${what}, ${STATES[state]}; ${logRatios.length} restarts in ${seconds.total.toFixed(0)} s, ${visible}${cold}`;
}
const STATES = { different: "different", equivalent: "equivalent", undecided: "not distinguishable" } as const;

/** One line for the highest rate that keeps a promise. */
export function capacityLine(name: string, endpoint: string, slo: Slo, capacity: Capacity): string {
  const { rate, low, high, starts, reason } = capacity;
  const promise = promiseOf(slo);
  if (rate === 0 && high === null) return `${name} ${endpoint}: whether ${promise} is kept is not known; ${reason}`;
  if (rate === 0) return `${name} ${endpoint}: ${promise} is not kept at any rate tried; ${reason}`;
  const interval = high === null ? "or more" : `(${low.toFixed(1)}–${high.toFixed(1)}, ${starts} starts)`;
  return `${name} ${endpoint}: ${promise} up to ${rate.toFixed(1)} requests/s ${interval}; in the last start ${reason}`;
}

/** One line for a gate whose answer is known. */
export const gateLine = ({ server, handicap, verdict, seconds }: GateFinding): string =>
  `${server} ${handicap > 0 ? `${percent(handicap)} more work` : "A/A"}: ${verdict}, ${seconds.toFixed(0)} s`;

const ANSWERS = ["not slower", "slower", "undecided", "not measured"] as const;

/** What gates exited with, and what the first of the two cost in all of them, against the second. */
export function gatesTable(findings: readonly GateFinding[]): string {
  const groups = [...Map.groupBy(findings, ({ handicap }) => handicap)];
  const costs = (all: readonly GateFinding[]): string => {
    const ratios = all.flatMap(({ outcomes }) => outcomes.flatMap(({ logRatios }) => logRatios.map(Math.exp)));
    return ratios.length < 2 ? "-" : ratio(meanInterval(ratios), 3);
  };
  return renderText(
    ["", ...ANSWERS.map((verdict) => `${verdict} (${EXIT[verdict]})`), "median time", "CPU time"],
    groups.map(([handicap, all]) => [
      handicap > 0 ? `${percent(handicap)} more work` : "equal",
      ...ANSWERS.map((verdict) => `${all.filter((one) => one.verdict === verdict).length} of ${all.length}`),
      secondsOf(all),
      costs(all),
    ]),
  );
}

/** What idle servers cost: the median of several starts, the least and the most. */
export function idleTable(seen: readonly Idle[]): string {
  const cell = (all: readonly Idle[], field: keyof Omit<Idle, "name">, show: (value: number) => string): string => {
    const values = all.flatMap((one) => one[field] ?? []);
    if (values.length === 0) return "-";
    return `${show(median(values))} (${show(Math.min(...values))}–${show(Math.max(...values))})`;
  };
  const mb = (bytes: number) => (bytes / 1e6).toFixed(1);
  const rows = [...Map.groupBy(seen, ({ name }) => name)].map(([name, all]) => [
    name,
    cell(all, "startupMs", (ms) => ms.toFixed(0)),
    cell(all, "rssBytes", mb),
    cell(all, "perThousandBytes", mb),
    cell(all, "cpu", (part) => (part * 100).toFixed(2)),
  ]);
  return [
    renderText(["", "start ms", "MB", "MB per 1,000 idle", "CPU % idle"], rows),
    `Medians of ${startsOf(seen)} starts, with the least and the most. Idle: 1,000 connections that each asked once.`,
  ].join("\n\n");
}

/** Of each server, one that is measured twice as well. */
const startsOf = (seen: readonly Idle[]): number =>
  Math.max(...[...Map.groupBy(seen, ({ name }) => name).values()].map(({ length }) => length));

/** One line for what was said of one pair. */
export function found({ server, endpoint, handicap, ratio, outcome, seconds }: Finding): string {
  return `${server} ${endpoint} ${handicap > 0 ? `${percent(handicap)} more work` : "A/A"}: ${ratio.toFixed(3)} ${outcome} (until decided, ${seconds.toFixed(0)} s)`;
}

/** One line for a server in turns and alone. */
export const aloneLine = ({ server, endpoint, cost, rate, looks }: AloneFinding): string =>
  `${server} ${endpoint}: turns ÷ alone, against the mean of all: CPU time ${ratio(cost, 3)}, requests/s ${ratio(rate, 3)}, ${looks} looks`;

/** What a server answered when it was asked. */
export const answersTable = ({ name, url, answers }: Target, endpoints: readonly string[]): string =>
  renderText(
    [`${name} at ${url}`, "bytes", "ms"],
    endpoints.map((endpoint) => {
      const { bytes = 0, ms = 0 } = answers?.get(endpoint) ?? {};
      return [endpoint, count(bytes), ms.toFixed(1)];
    }),
  );

/** How often turns were wrong, with the exact 95 % interval. */
export function selfTestTable(findings: readonly Finding[]): string {
  const of = (all: readonly Finding[], wrong: (finding: Finding) => boolean): string => {
    const k = all.filter(wrong).length;
    const { low, high } = proportionInterval(k, all.length);
    return `${k} of ${all.length} (${Math.floor(low * 100)}–${Math.ceil(high * 100)} %)`;
  };
  const [equal, unequal] = [0, 1].map((more) => findings.filter(({ handicap }) => Math.sign(handicap) === more)) as [
    Finding[],
    Finding[],
  ];
  return renderText(
    ["equal, called different", "5 % more work, not seen", "5 % more work, called faster", "median time", "ratios"],
    [
      [
        of(equal, ({ outcome }) => outcome !== "same"),
        of(unequal, ({ outcome }) => outcome === "same"),
        of(unequal, ({ outcome }) => outcome === "faster"),
        secondsOf(unequal),
        spreadOf(unequal.map(({ ratio }) => ratio)),
      ],
    ],
  );
}

function secondsOf(findings: readonly { readonly seconds?: number }[]): string {
  const seconds = findings.flatMap((finding) => finding.seconds ?? []);
  return seconds.length === 0 ? "-" : `${median(seconds).toFixed(0)} s`;
}

const spreadOf = (values: readonly number[]): string =>
  values.length === 0 ? "-" : `${Math.min(...values).toFixed(3)}–${Math.max(...values).toFixed(3)}`;
