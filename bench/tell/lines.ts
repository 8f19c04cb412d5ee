/** Lines and tables for a plan, and for results of `compare`, `tax`, `--idle` and `self-test`. */
import { isHere } from "../ask/targets.ts";
import type { Cores } from "../host/cores.ts";
import { EXIT } from "../judge/gate.ts";
import type { Outcome } from "../judge/outcomes.ts";
import { meanInterval, median, proportionInterval } from "../judge/statistics.ts";
import type { Manifest } from "../keep/manifest.ts";
import type { Plan } from "../plan/plan.ts";
import type { Idle } from "../run/idle.ts";
import type { Target } from "../run/targets/target.ts";
import type { AloneFinding } from "../self-test/alone.ts";
import type { GateFinding } from "../self-test/gates.ts";
import type { Finding } from "../self-test/self-test.ts";
import { count, many, notDetectable, percent, present, ratio } from "./format.ts";
import { renderText } from "./text.ts";

export function describe(plan: Plan, cores: Cores | null): string {
  const { targets, scenarios, connections, agents, amount } = plan;
  const where = () => {
    if (agents.length > 0) return `; load from ${agents.join(", ")}`;
    if (!targets.every(isHere)) return "";
    if (cores === null) return "; measuring here requires two cores";
    const pinned = targets.every(({ kind }) => kind !== "url");
    return `; generator on cores ${cores.generator}, servers ${pinned ? `on ${cores.server}` : "not pinned"}`;
  };
  const minutes = amount.minutes < 1 ? `${Math.round(amount.minutes * 60)} s` : `${amount.minutes} min`;
  const what = `${many(targets.length, "server")} × ${many(scenarios.length, "endpoint")}, ${connections} connections`;
  return `${what}: ${minutes}, as many restarts as fit, at least two${where()}`;
}

export function targetLines({ targets, scenarios }: Plan): string[] {
  const names = targets.map((spec) =>
    spec.kind === "url" && spec.name !== spec.url ? `${spec.name} (${spec.url})` : spec.name,
  );
  const hasApp = targets.some((spec) => spec.kind === "local" && spec.app && !("NODE_ENV" in spec.env));
  return present([
    `servers: ${names.join(" ")}`,
    `endpoints: ${scenarios.map(({ name }) => name).join(" ")}`,
    hasApp && `environment of apps: yours, with NODE_ENV=${process.env.NODE_ENV ?? "production"}`,
  ]);
}

export function outcome(pair: string, one: Outcome, { seconds }: Pick<Manifest, "seconds">): string {
  const { endpoint, by, ratio: of, state, logRatios, smallestVisible, isWarming } = one;
  if (logRatios.length === 0)
    return `${pair} ${endpoint}: not measured in ${seconds.total.toFixed(0)} s: requests failed, or a server ended`;
  const cold = isWarming ? "; one was still warming: raise --warmup" : "";
  const visible = smallestVisible < 1 ? notDetectable(percent(smallestVisible)) : "too few to detect a difference";
  const what = by === "cpu" ? "CPU time per request" : "time per request";
  return `${pair} ${endpoint}: ${ratio(of, 3)} of the ${what}, ${STATES[state]}; ${logRatios.length} restarts in ${seconds.total.toFixed(0)} s, ${visible}${cold}`;
}
const STATES = { different: "different", equivalent: "equivalent", undecided: "not distinguishable" } as const;

const workOf = (handicap: number, equal: string) => (handicap > 0 ? `${percent(handicap)} more work` : equal);

export const gateLine = ({ server, handicap, verdict, seconds }: GateFinding): string =>
  `${server} ${workOf(handicap, "A/A")}: ${verdict}, ${seconds.toFixed(0)} s`;

const ANSWERS = ["not slower", "slower", "undecided", "not measured"] as const;

/** How often gates had each verdict, and the cost of the first server ÷ the second over all of them. */
export function gatesTable(findings: readonly GateFinding[]): string {
  const rows = [...Map.groupBy(findings, ({ handicap }) => handicap)].map(([handicap, all]) => {
    const ratios = all.flatMap(({ outcomes }) => outcomes.flatMap(({ logRatios }) => logRatios.map(Math.exp)));
    const cost = ratios.length < 2 ? "-" : ratio(meanInterval(ratios), 3);
    const times = ANSWERS.map((verdict) => `${all.filter((one) => one.verdict === verdict).length} of ${all.length}`);
    return [workOf(handicap, "equal"), ...times, secondsOf(all), cost];
  });
  return renderText(
    ["", ...ANSWERS.map((verdict) => `${verdict} (${EXIT[verdict]})`), "median time", "CPU time"],
    rows,
  );
}

/** Cost of idle servers: median, minimum and maximum over several restarts. */
export function idleTable(seen: readonly Idle[]): string {
  const byName = [...Map.groupBy(seen, ({ name }) => name)];
  const mb = (bytes: number) => (bytes / 1e6).toFixed(1);
  const rows = byName.map(([name, all]) => {
    const cell = (field: keyof Omit<Idle, "name">, show = (value: number) => value.toFixed(0)): string => {
      const values = all.flatMap((one) => one[field] ?? []);
      if (values.length === 0) return "-";
      return `${show(median(values))} (${show(Math.min(...values))}–${show(Math.max(...values))})`;
    };
    const cpu = cell("cpu", (part) => (part * 100).toFixed(2));
    return [name, cell("startupMs"), cell("rssBytes", mb), cell("perThousandBytes", mb), cpu];
  });
  const starts = Math.max(...byName.map(([, { length }]) => length));
  return [
    renderText(["", "start ms", "MB", "MB per 1,000 idle", "CPU % idle"], rows),
    `Median (least–most) of ${starts} restarts. Idle: 1,000 connections after one request each.`,
  ].join("\n\n");
}

export const found = ({ server, endpoint, handicap, ratio, outcome, seconds }: Finding): string =>
  `${server} ${endpoint} ${workOf(handicap, "A/A")}: ${ratio.toFixed(3)} ${outcome} (until decided, ${seconds.toFixed(0)} s)`;

export const aloneLine = ({ server, endpoint, cost, rate, looks }: AloneFinding): string =>
  `${server} ${endpoint}: turns ÷ alone, against the mean of all: CPU time ${ratio(cost, 3)}, requests/s ${ratio(rate, 3)}, ${looks} looks`;

export function answersTable({ name, url, answers }: Target, endpoints: readonly string[]): string {
  const rows = endpoints.map((endpoint) => {
    const { bytes = 0, ms = 0 } = answers?.get(endpoint) ?? {};
    return [endpoint, count(bytes), ms.toFixed(1)];
  });
  return renderText([`${name} at ${url}`, "bytes", "ms"], rows);
}

/** How often turns were wrong, with the exact 95 % interval. */
export function selfTestTable(findings: readonly Finding[]): string {
  const of = (all: readonly Finding[], wrong: (finding: Finding) => boolean): string => {
    const k = all.filter(wrong).length;
    const { low, high } = proportionInterval(k, all.length);
    return `${k} of ${all.length} (${Math.floor(low * 100)}–${Math.ceil(high * 100)} %)`;
  };
  const equal = findings.filter(({ handicap }) => handicap === 0);
  const unequal = findings.filter(({ handicap }) => handicap > 0);
  const ratios = unequal.map(({ ratio }) => ratio);
  const more = ["5 % more work, not seen", "5 % more work, called faster"];
  return renderText(
    ["equal, called different", ...more, "median time", "its ratios"],
    [
      [
        of(equal, ({ outcome }) => outcome !== "same"),
        of(unequal, ({ outcome }) => outcome === "same"),
        of(unequal, ({ outcome }) => outcome === "faster"),
        secondsOf(unequal),
        ratios.length === 0 ? "-" : `${Math.min(...ratios).toFixed(3)}–${Math.max(...ratios).toFixed(3)}`,
      ],
    ],
  );
}

function secondsOf(findings: readonly { readonly seconds?: number }[]): string {
  const seconds = findings.flatMap((finding) => finding.seconds ?? []);
  return seconds.length === 0 ? "-" : `${median(seconds).toFixed(0)} s`;
}
