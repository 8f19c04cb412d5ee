import { SingleBar } from "cli-progress";
import Table from "cli-table3";
import type { Table as Endpoint, Row } from "../analysis.ts";
import type { Cores } from "../cores.ts";
import type { Outcome } from "../duel.ts";
import { isHere, orderOf, type Plan, totalSeconds } from "../plan.ts";
import type { Finding } from "../self-test/self-test.ts";
import type { Manifest } from "../session.ts";
import type { Capacity, Slo } from "../slo.ts";
import { type Comparison, type Interval, proportionInterval } from "../statistics.ts";

const count = (value: number) => Math.round(value).toLocaleString("en-US");
const ms = (value: number) => value.toFixed(value < 10 ? 2 : 1);
const mega = (bytes: number) => count(bytes / 1e6);
export const percent = (part: number) => `${(part * 100).toFixed(part < 0.0995 ? 1 : 0)} %`;

/** A value with the half width of its 95 % interval, upwards, which is the wider side. */
function withInterval(interval: Interval | null, show: (value: number) => string): string {
  if (interval === null || Number.isNaN(interval.estimate)) return "-";
  const half = interval.high / interval.estimate - 1;
  const width = Number.isNaN(half) ? "" : half > 1 ? " ± >100 %" : ` ±${Math.ceil(half * 100)} %`;
  return show(interval.estimate) + width;
}

/** `1.19 (1.12–1.27)` */
export const ratio = ({ estimate, low, high }: Interval, digits = 2): string =>
  estimate.toFixed(digits) + (low === high ? "" : ` (${low.toFixed(digits)}–${high.toFixed(digits)})`);

/** Head -> what a row shows. */
const SHOWN: Readonly<Record<string, (row: Row) => string>> = {
  rank: ({ standing }) => (standing ? [...new Set(standing.rank)].join("–") : "-"),
  server: ({ name }) => name,
  "CPU ÷ best": ({ standing }) => (standing ? ratio(standing.ratioToBest) : "-"),
  ties: ({ standing }) => standing?.groups ?? "-",
  "CPU µs": ({ cpuUsPerRequest }) => withInterval(cpuUsPerRequest, (us) => us.toFixed(1)),
  "requests/s": ({ goodput }) => withInterval(goodput, count),
  "p50 ms": ({ latencyMs }) => withInterval(latencyMs[50], ms),
  "p99 ms": ({ latencyMs }) => withInterval(latencyMs[99], ms),
  "limited by": ({ verdict, errors }) =>
    verdict.replace("-bound", "") + (errors > 0 ? `, ${count(errors)} errors` : ""),
};

/** Head -> what a server shows, whatever the endpoint. */
const SERVER: Readonly<Record<string, (row: Row) => string>> = {
  server: ({ name }) => name,
  "start ms": ({ startupMs }) => withInterval(startupMs, count),
  "RSS MB": ({ rssBytes }) => withInterval(rssBytes, mega),
  "peak MB": ({ peakRssBytes }) => withInterval(peakRssBytes, mega),
  "busiest thread": ({ busiest }) => withInterval(busiest, percent),
};

function render<T>(columns: Readonly<Record<string, (row: T) => string>>, rows: readonly T[]): string {
  const head = Object.keys(columns);
  const table = new Table({
    head,
    colAligns: head.map((name) => (name === "server" || name === "limited by" ? "left" : "right")),
    style: { head: [], border: [], compact: true },
  });
  table.push(...rows.map((row) => Object.values(columns).map((show) => show(row))));
  return String(table);
}

/** One table per endpoint, cheapest server first where the run can tell, with what it could see under it. */
export function tables(endpoints: readonly Endpoint[]): string {
  const each = endpoints.map(({ endpoint, comparison, rows, remarks }) =>
    [
      endpoint,
      render(SHOWN, rows),
      comparison
        ? sight(comparison)
        : "  not ranked: that takes two servers on one machine, their CPU time and two blocks",
      ...remarks.map(
        ({ verdict, names, text }) =>
          `  ${names.length === rows.length ? "all" : names.join(", ")} ${verdict}, so not ranked by requests/s: ${text}`,
      ),
    ].join("\n"),
  );
  const heaviest = endpoints.find(({ endpoint }) => endpoint === "/sqlite/random-30fields/10") ?? endpoints[0];
  if (heaviest) each.push(`servers, after ${heaviest.endpoint}\n${render(SERVER, heaviest.rows)}`);
  return each.join("\n\n");
}

/** One line for two targets at one endpoint. */
export function outcome(pair: string, { endpoint, ratio: of, state, logRatios, smallestVisible }: Outcome): string {
  return `${pair} ${endpoint}: ${ratio(of, 3)} of the CPU time per request, ${state}; ${logRatios.length} blocks, smallest visible difference ${percent(smallestVisible)}`;
}

/** One line for the highest rate that keeps a promise. */
export function capacityLine(name: string, endpoint: string, slo: Slo, { low, high, reason }: Capacity): string {
  const promise = `p${slo.percentile} < ${slo.limitMs} ms`;
  if (low === 0) return `${name} ${endpoint}: ${promise} is not kept at any rate tried; ${reason}`;
  const interval = high === null ? "or more" : `(${low.toFixed(1)}–${high.toFixed(1)})`;
  return `${name} ${endpoint}: ${promise} up to ${low.toFixed(1)} requests/s ${interval}; ${reason}`;
}

/** One line for what one way of measuring said of one pair. */
export function found({ way, server, endpoint, handicap, ratio, said }: Finding): string {
  return `${server} ${endpoint} ${handicap > 0 ? `${percent(handicap)} more work` : "A/A"}: ${ratio.toFixed(3)} ${said} (${way})`;
}

/** How often each way of measuring was wrong, with the exact 95 % interval of that share. */
export function selfTestTable(findings: readonly Finding[]): string {
  const of = (all: readonly Finding[], wrong: (finding: Finding) => boolean): string => {
    const k = all.filter(wrong).length;
    const { low, high } = proportionInterval(k, all.length);
    return `${k} of ${all.length} (${Math.floor(low * 100)}–${Math.ceil(high * 100)} %)`;
  };
  const ways = [...Map.groupBy(findings, ({ way }) => way)].map(([way, all]) => {
    const equal = all.filter(({ handicap }) => handicap === 0);
    const unequal = all.filter(({ handicap }) => handicap > 0);
    return {
      way,
      "equal, called different": of(equal, ({ said }) => said !== "same"),
      "5 % more work, not seen": of(unequal, ({ said }) => said === "same"),
      "5 % more work, called faster": of(unequal, ({ said }) => said === "faster"),
      "its ratios": spreadOf(unequal.map(({ ratio }) => ratio)),
    };
  });
  const columns = Object.keys(ways[0] ?? {}).map((head) => [head, (row: Record<string, string>) => row[head] ?? ""]);
  return render(Object.fromEntries(columns), ways);
}

const spreadOf = (values: readonly number[]): string =>
  values.length === 0 ? "-" : `${Math.min(...values).toFixed(3)}–${Math.max(...values).toFixed(3)}`;

/** What a comparison could see. */
export function sight({ blocks, spread, smallestVisible, components }: Comparison): string {
  const within = components.within === null ? "" : `, of one duet ${percent(components.within)}`;
  return `  ${blocks} blocks; spread ${percent(spread)} (between restarts ${percent(components.between)}${within}); smallest visible difference ${percent(smallestVisible)}`;
}

/** What is to be said of the run as a whole. */
export function trust({ plan, seconds }: Manifest, endpoints: readonly Endpoint[]): string {
  const said = [`${percent(seconds.loaded / seconds.total)} of ${Math.round(seconds.total)} s were slices or warm-up.`];
  const twin = endpoints[0]?.rows.find(({ name }) => name.endsWith("#2"))?.name;
  if (plan.amount.twin && twin) {
    const name = twin.replace(/#2$/, "");
    const seen = endpoints.flatMap(({ endpoint, comparison }) =>
      (comparison?.pairs ?? [])
        .filter(({ a, b }) => [a, b].sort().join() === [name, twin].sort().join())
        .map((pair) => ({ endpoint, ...pair })),
    );
    const wrong = seen.filter(({ state }) => state === "different");
    said.unshift(
      wrong.length === 0
        ? `A/A twin: ${name} measured twice is not different at any of ${seen.length} endpoints (${seen.map((pair) => ratio(pair.ratio)).join(", ")}).`
        : `DO NOT TRUST THIS RUN: ${name} measured twice came out different at ${wrong.map((pair) => `${pair.endpoint} (${ratio(pair.ratio)})`).join(", ")}: something on this machine treated two copies of one server unequally.`,
    );
  }
  if (plan.targets.some(({ kind }) => kind === "url")) {
    said.push(
      "Servers that run already are not restarted: how much they differ from start to start is not in these intervals.",
    );
  }
  return said.join("\n");
}

/** One line: what a plan will do, how long it takes and on which cores. */
export function describe(plan: Plan, cores: Cores | null): string {
  const { targets, endpoints, connections, amount } = plan;
  const minutes = Math.max(1, Math.round(totalSeconds(plan) / 60));
  const where = () => {
    if (!targets.every(isHere)) return "";
    if (cores === null) return "; servers and generator share the cores";
    const pinned = targets.every(({ kind }) => kind === "local");
    return `; generator on cores ${cores.generator}, servers on ${pinned ? cores.server : "whichever they choose"}`;
  };
  return `${targets.length} servers × ${endpoints.length} endpoints, ${connections} connections, ${amount.blocks} blocks: about ${minutes} min${where()}`;
}

/** What every block of a plan will do, in this order. */
export function order(plan: Plan): string {
  const names = plan.targets.map(
    (spec, i) =>
      (spec.kind === "local" ? spec.name : (spec.name ?? spec.url)) +
      (i > 0 && plan.amount.twin && i === plan.targets.length - 1 ? "#2" : ""),
  );
  return Array.from({ length: plan.amount.blocks }, (_, i) => {
    const steps = orderOf(plan, i + 1, names, names);
    return [
      `block ${i + 1}`,
      ...steps.map(
        ({ endpoint, duets, solos }) =>
          `  ${endpoint}: ${duets.map((pair) => pair.join(" and ")).join("; ")}; alone ${solos.join(", ")}`,
      ),
    ].join("\n");
  }).join("\n");
}

/** What runs now, how much is done and the time left: a bar on a terminal, a line per step elsewhere. */
export interface Progress {
  now(what: string): void;
  /** @param seconds of the plan's estimate that are behind us */
  done(seconds: number): void;
  /** Prints a line that stays. */
  say(line: string): void;
  stop(): void;
}

/** @param total seconds that it will take */
export function showProgress(total: number): Progress {
  const since = performance.now();
  let behind = 0;
  let what = "starting";
  const left = () => {
    const pace = behind > 0 ? (performance.now() - since) / 1e3 / behind : 1;
    const seconds = Math.max(0, total - behind) * pace;
    return seconds < 90 ? `${Math.ceil(seconds)} s` : `${Math.ceil(seconds / 60)} min`;
  };
  const step = () => what.split(":")[0];
  if (!process.stderr.isTTY) {
    return {
      now: (next) => {
        const before = step();
        what = next;
        if (step() === before) return;
        console.error(`${percent(Math.min(1, behind / total))} done, ${left()} left: ${what}`);
      },
      done: (seconds) => {
        behind += seconds;
      },
      say: (line) => console.log(line),
      stop: () => {},
    };
  }
  const bar = new SingleBar({
    format: "{bar} {percentage} % | {left} left | {what}",
    barsize: 20,
    clearOnComplete: true,
    hideCursor: null,
  });
  const show = () => bar.update(Math.min(behind, total), { left: left(), what });
  const begin = () => bar.start(total, Math.min(behind, total), { left: left(), what });
  begin();
  return {
    now: (next) => {
      what = next;
      show();
    },
    done: (seconds) => {
      behind += seconds;
      show();
    },
    say: (line) => {
      bar.stop();
      console.log(line);
      begin();
    },
    stop: () => bar.stop(),
  };
}
