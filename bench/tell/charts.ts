/** The charts of a report as data: page/draw.ts draws them. */
import type { Interval } from "../judge/statistics.ts";
import { nameOfChoice } from "./choices.ts";
import { nines, ratio, warmingWords, word } from "./format.ts";
import type { Chart, Point, Series } from "./page/draw.ts";
import { type Endpoint, PERCENTILES } from "./report.ts";
import { grid } from "./text.ts";

/** Colours of frameworks on Bun and Node, and of other languages. */
const COLORS: Readonly<Record<string, string>> = {
  other: "light-dark(#7a6a00, #d8c94a)",
  raw: "light-dark(#444, #ccc)",
  express: "light-dark(#b34700, #ff8c42)",
  fastify: "light-dark(#0063a3, #5bb4f0)",
  hono: "light-dark(#a3267a, #ee8fcb)",
  elysia: "light-dark(#00795a, #3fc79a)",
  next: "light-dark(#000, #fff)",
  remix: "light-dark(#5c5c00, #c5c56a)",
  go: "light-dark(#007d9c, #4dd0e8)",
  rust: "light-dark(#8a3b12, #e8a17a)",
  java: "light-dark(#b00020, #ff7a85)",
  python: "light-dark(#2b5b84, #ffd43b)",
  ruby: "light-dark(#9b1111, #ff9d9d)",
  elixir: "light-dark(#5d3a8e, #c3a6f0)",
};
/** Shapes of runtimes: the name of the shape, and its character in the legend. */
const SHAPES: Readonly<Record<string, string>> = {
  ...{ bun: "circle ●", node: "square ■", other: "triangle ▲", go: "diamond ◆", rust: "star ★", java: "cross ✚" },
  ...{ python: "hexagon ⬢", ruby: "wye Y", elixir: "diamond2 ◇" },
};

type Server = Endpoint["rows"][number];

function lookOf(row: Server) {
  const [runtime, framework] = [word(row.runtime), word(row.framework)];
  const color = [framework, runtime].find((name) => name in COLORS) ?? "other";
  return { runtime: runtime in SHAPES ? runtime : "other", color };
}

export function legendOf(endpoints: readonly Endpoint[]) {
  const looks = endpoints.flatMap(({ rows }) => rows.map(lookOf));
  const shapes = Object.entries(SHAPES).filter(([name]) => looks.some(({ runtime }) => runtime === name));
  return {
    colors: Object.entries(COLORS).filter(([name]) => looks.some(({ color }) => color === name)),
    shapes: shapes.map(([name, shape]) => `${shape.split(" ")[1]} ${name}`).join(" "),
  };
}

function seriesOf(row: Server, points: readonly Point[]): Series {
  const { runtime, color } = lookOf(row);
  return { server: row.name, color: COLORS[color] ?? "", shape: word(SHAPES[runtime] ?? null), points };
}

const range = ({ low, high }: Interval) => ({ low, high });

/** CPU time per request ÷ the least, with simultaneous intervals; servers not distinguishable from the least are shaded. */
export function intervals({ endpoint, rows }: Endpoint): Chart {
  const series = rows.flatMap((row) => {
    if (!row.standing) return [];
    const { ratioToBest: of, groups, first } = row.standing;
    const state = row.warming ? `warming: ${warmingWords(row.warming)}` : `group ${groups}`;
    const more = { title: `${row.name}: ${ratio(of)}, ${state}`, text: row.warming ? "?" : groups, first };
    return [seriesOf(row, [{ x: of.estimate, y: row.name, ...range(of), ...more }])];
  });
  const title = `CPU time per request at ${endpoint}, as a multiple of the least`;
  const axes = { x: "CPU time per request ÷ least", y: null, scale: "log" } as const;
  return { kind: "intervals", caption: endpoint, endpoint, title, ...axes, series };
}

function latencies({ endpoint, curves, rows }: Endpoint): Chart {
  const series = curves.flatMap(({ name, ms }) => {
    const points = PERCENTILES.map((p, i): Point => {
      const y = ms[i] as number;
      return { x: nines(p), y, ...(p === 99 && { title: `${name}: p99 ${y.toFixed(2)} ms` }) };
    });
    return rows.filter((row) => row.name === name).map((row) => seriesOf(row, points));
  });
  const axes = { x: "percentile", y: "latency, ms", scale: "nines" } as const;
  const title = `Latency by percentile at ${endpoint}`;
  return { kind: "latencies", caption: endpoint, endpoint, title, ...axes, series };
}

function effect(name: string, endpoints: readonly Endpoint[]): Chart {
  const points = endpoints.flatMap(({ endpoint, effects }) =>
    effects
      .flatMap((one) => (one.cpu && nameOfChoice(one) === name ? [one.cpu] : []))
      .map((cpu) => ({ x: cpu.estimate, y: endpoint, ...range(cpu), title: `${endpoint}: ${ratio(cpu)}` })),
  );
  const series = [{ server: null, color: "var(--text)", shape: "circle", points }];
  const axes = { x: name, y: null, scale: "log" } as const;
  return { kind: "effect", caption: name, endpoint: null, title: `CPU time per request of ${name}`, ...axes, series };
}

const BY_RATE: Readonly<Record<string, (row: Server) => Interval | null>> = {
  "CPU µs per request": ({ cpuUsPerRequest }) => cpuUsPerRequest,
  "p99, ms": ({ latencyMs }) => latencyMs[99],
};

/** @param endpoints one endpoint at several rates */
function overRates(y: keyof typeof BY_RATE, endpoints: readonly Endpoint[]): Chart {
  const seen = endpoints.flatMap(({ rows, rate }) => rows.map((row) => ({ row, x: rate ?? 0 })));
  const series = [...Map.groupBy(seen, ({ row }) => row.name).values()].flatMap((of) => {
    const points = of.flatMap(({ row, x }) => {
      const value = BY_RATE[y]?.(row);
      if (!value) return [];
      const title = `${row.name} at ${x} requests/s: ${value.estimate.toPrecision(3)}`;
      return [{ x, y: value.estimate, ...range(value), title }];
    });
    return of.slice(0, 1).map(({ row }) => seriesOf(row, points));
  });
  const base = endpoints[0]?.base;
  const title = `${y} over requests/s at ${base}`;
  const axes = { x: "requests/s", y, scale: "linear" } as const;
  return { kind: "load", caption: `${base}: ${y}`, endpoint: null, title, ...axes, series };
}

export function viewsOf(endpoints: readonly Endpoint[]) {
  const choices = [...new Set(endpoints.flatMap(({ effects }) => effects.map(nameOfChoice)))];
  const costs = endpoints.map(({ endpoint, effects }) => [
    endpoint,
    ...choices.map((name) => {
      const cpu = effects.find((one) => nameOfChoice(one) === name)?.cpu;
      return cpu ? ratio(cpu) : "-";
    }),
  ]);
  const atRates = endpoints.filter(({ rate }) => rate !== null);
  const loads = [...Map.groupBy(atRates, ({ base }) => base).values()];
  const views = [
    {
      id: "cpu",
      title: "CPU time",
      text: "Per request ÷ the least, with 95 % intervals. Servers that share a letter could not be distinguished; ? is warming.",
      charts: endpoints.filter(({ comparison }) => comparison !== null).map(intervals),
    },
    {
      id: "choices",
      title: "Choices",
      text: "CPU time per request of servers that differ in nothing else; below 1 is less.",
      charts: choices.map((name) => effect(name, endpoints)),
      grid: grid("What each choice costs, as a table", ["endpoint", ...choices], costs),
    },
    {
      id: "latency",
      title: "Latency",
      text: "In a closed loop these are service times. Dashed: Node.",
      charts: endpoints.filter(({ curves }) => curves.length > 0).map(latencies),
    },
    {
      id: "load",
      title: "Over load",
      text: "Each server alone, at several fixed rates. A server that costs more per request at a low rate may cost less at a high one.",
      charts: loads.flatMap((of) => Object.keys(BY_RATE).map((y) => overRates(y, of))),
    },
  ];
  return views.filter(({ charts }) => charts.length > 0);
}
