import * as Plot from "@observablehq/plot";
import type { MainEffect } from "../../judge/effects.ts";
import { shortOf, warmingWords, word } from "../format.ts";
import type { Endpoint } from "../report.ts";

/** Where and how wide a chart is drawn; `document` if there is no browser. */
export interface Canvas {
  readonly width: number;
  readonly document?: Document;
}

/**
 * A server that is shown, and how: the shape says the runtime, the colour the framework, for eyes that tell few colours; in
 * other languages both say the language.
 */
interface Shown {
  readonly name: string;
  readonly runtime: string;
  readonly framework: string;
}

const shownOf = ({ rows }: Endpoint, names: ReadonlySet<string>): (Shown & Endpoint["rows"][number])[] =>
  rows.filter(({ name }) => names.has(name)).map((row) => ({ ...row, ...markOf(row) }));

const FRAMEWORKS = ["raw", "express", "fastify", "hono", "elysia", "next", "remix"];
const LANGUAGES = ["go", "rust", "java", "python", "ruby", "elixir"];
/** Names of colours, in the order of the style sheet's. */
export const COLORS = ["other", ...FRAMEWORKS, ...LANGUAGES];
/** Names of shapes, and the shapes. */
export const SHAPES = {
  bun: ["circle", "●"],
  node: ["square", "■"],
  other: ["triangle", "▲"],
  go: ["diamond", "◆"],
  rust: ["star", "★"],
  java: ["cross", "✚"],
  python: ["hexagon", "⬢"],
  ruby: ["wye", "Y"],
  elixir: ["diamond2", "◇"],
} as const;
const color = { domain: COLORS, range: COLORS.map((_, i) => `var(--series-${i})`) };
const symbol = { domain: Object.keys(SHAPES), range: Object.values(SHAPES).map(([shape]) => shape) };

/** @returns the name of a server's shape, and that of its colour. */
export function markOf(row: { readonly runtime: string | null; readonly framework: string | null }) {
  const [runtime, framework] = [word(row.runtime), word(row.framework)];
  const colored = FRAMEWORKS.includes(framework) ? framework : LANGUAGES.includes(runtime) ? runtime : "other";
  return { runtime: runtime in SHAPES ? runtime : "other", framework: colored };
}
const ROW_HEIGHT = 26;
/** How far an axis goes beyond its data, as a factor. */
const PADDING = 1.02;
/** Offset of an axis's label, so that it is below the numbers. */
const LABEL_OFFSET = 38;

function draw(title: string, { width, document }: Canvas, options: Plot.PlotOptions): Element {
  const element = Plot.plot({
    width,
    marginLeft: Math.min(190, width / 2.4),
    marginRight: 24,
    marginBottom: 45,
    style: { fontSize: "13px", background: "none" },
    ...(document && { document }),
    ...options,
  });
  // One image with one name: labels of its parts would be read by none.
  for (const part of element.querySelectorAll("[aria-label]")) part.removeAttribute("aria-label");
  element.setAttribute("role", "img");
  element.setAttribute("aria-label", title);
  return element;
}

/** Those of Node are dashed. */
const linesOf = (points: readonly Shown[], line: Plot.LineOptions) =>
  [false, true].map((isNode) =>
    Plot.line(
      points.filter(({ runtime }) => (runtime === "node") === isNode),
      { ...line, ...(isNode && { strokeDasharray: "5 3" }) },
    ),
  );

/** CPU time per request over that of the first, with simultaneous intervals; those that tie with the first are shaded. */
export function intervals(endpoint: Endpoint, names: ReadonlySet<string>, canvas: Canvas): Element {
  const data = shownOf(endpoint, names).flatMap((row) =>
    row.standing
      ? [
          {
            ...row,
            ...row.standing.ratioToBest,
            groups: row.warming ? "?" : row.standing.groups,
            first: row.standing.first,
          },
        ]
      : [],
  );
  const x = ratioAxis(
    "CPU time per request ÷ least",
    data.flatMap(({ low, high }) => [low, high]),
  );
  const [x1, x2] = x.domain;
  return draw(`CPU time per request at ${endpoint.endpoint}, as a multiple of the least`, canvas, {
    height: ROW_HEIGHT * data.length + 75,
    x,
    y: { domain: data.map(({ name }) => name), label: null },
    color,
    symbol,
    marks: [
      Plot.barX(
        data.filter(({ first }) => first),
        { x1, x2, y: "name", fill: "var(--tie)", insetTop: -2, insetBottom: -2 },
      ),
      Plot.ruleX([1], { stroke: "currentColor", strokeOpacity: 0.4 }),
      Plot.ruleY(data, { x1: "low", x2: "high", y: "name", stroke: "framework", strokeWidth: 2 }),
      Plot.dot(data, {
        x: "estimate",
        y: "name",
        fill: "framework",
        symbol: "runtime",
        r: 5,
        className: "mark",
        title: ({ name, estimate, low, high, groups, warming }) =>
          `${name}: ${estimate.toFixed(2)} (${low.toFixed(2)}–${high.toFixed(2)}), ${warming ? `warming: ${warmingWords(warming)}` : `ties ${groups}`}`,
      }),
      Plot.text(data, { text: "groups", y: "name", frameAnchor: "right", dx: 20, fontWeight: "bold" }),
    ],
  });
}

/** A log axis from the least to the most of `ends`. */
function ratioAxis(label: string, ends: readonly number[]) {
  const domain: [number, number] = [Math.min(...ends) / PADDING, Math.max(...ends) * PADDING];
  const ticks = ticksOf(...domain);
  return { type: "log", domain, grid: true, label, labelOffset: LABEL_OFFSET, ticks, tickFormat: String } as const;
}

/** Numbers that people read on a log axis, the most usual first, as many as stay apart. */
function ticksOf(least: number, most: number): number[] {
  const ticks = [
    1, 2, 0.5, 5, 10, 1.5, 3, 0.7, 0.2, 0.1, 20, 50, 1.2, 0.8, 4, 7, 1.1, 0.9, 0.3, 1.3, 0.6, 0.4, 1.05, 0.95,
  ];
  const apart = Math.log(most / least) / 9;
  const kept: number[] = [];
  for (const tick of ticks.filter((tick) => tick >= least && tick <= most)) {
    if (kept.every((one) => Math.abs(Math.log(one / tick)) >= apart)) kept.push(tick);
  }
  return kept;
}

/** Latency over percentile, spread so that each nine is as wide as the one before. */
export function latencies(
  endpoint: Endpoint,
  percentiles: readonly number[],
  names: ReadonlySet<string>,
  canvas: Canvas,
): Element {
  const nines = (p: number) => -Math.log10(1 - p / 100);
  const servers = shownOf(endpoint, names);
  const points = endpoint.curves.flatMap(({ name, ms }) => {
    const server = servers.find((one) => one.name === name);
    return server ? ms.map((latency, i) => ({ ...server, ms: latency, p: percentiles[i] as number })) : [];
  });
  const at = (p: number) => points.filter((point) => point.p === p);
  const line = {
    x: (point: { p: number }) => nines(point.p),
    y: "ms",
    z: "name",
    stroke: "framework",
    strokeWidth: 1.8,
  } as const;
  return draw(`Latency by percentile at ${endpoint.endpoint}`, canvas, {
    height: 340,
    marginLeft: 60,
    x: {
      label: "percentile",
      labelOffset: LABEL_OFFSET,
      ticks: [10, 50, 90, 99, 99.9].map(nines),
      tickFormat: (value: number) => `${Number((100 - 100 * 10 ** -value).toFixed(1))}`,
      grid: true,
    },
    y: { type: "log", label: "latency, ms", grid: true, ticks: 5, tickFormat: "~g" },
    color,
    symbol,
    marks: [
      ...linesOf(points, line),
      Plot.dot(at(99), {
        x: ({ p }) => nines(p),
        y: "ms",
        fill: "framework",
        symbol: "runtime",
        r: 4,
        className: "mark",
        title: ({ name, ms }) => `${name}: p99 ${ms.toFixed(2)} ms`,
      }),
    ],
  });
}

const OVER_LOAD = { cost: "CPU µs per request", p99: "p99, ms", answered: "requests per second" };
const UNITS = { "requests/s": "requests per second", connections: "connections" };

/** What a request costs, its p99, or how many are answered, over the load; `endpoints` are one endpoint at several loads. */
export function overLoad(
  endpoints: readonly Endpoint[],
  of: keyof typeof OVER_LOAD,
  names: ReadonlySet<string>,
  canvas: Canvas,
): Element {
  const points = endpoints.flatMap((endpoint) =>
    shownOf(endpoint, names).flatMap((row) => {
      const value = { cost: row.cpuUsPerRequest, p99: row.latencyMs[99], answered: row.goodput }[of];
      return value && endpoint.level ? [{ ...row, ...value, load: endpoint.level.value }] : [];
    }),
  );
  const label = OVER_LOAD[of];
  const { unit = "requests/s" } = endpoints[0]?.level ?? {};
  const line = { x: "load", y: "estimate", z: "name", stroke: "framework", strokeWidth: 1.8 } as const;
  return draw(`${label} over ${UNITS[unit]} at ${endpoints[0]?.base ?? ""}`, canvas, {
    height: 340,
    marginLeft: 60,
    x: {
      ...(unit === "connections" ? { type: "log" } : { zero: true }),
      label: UNITS[unit],
      labelOffset: LABEL_OFFSET,
      grid: true,
      ticks: 5,
      tickFormat: "~s",
    },
    y: { type: "log", label, grid: true, ticks: 5, tickFormat: "~g" },
    color,
    symbol,
    marks: [
      Plot.ruleX(points, { x: "load", y1: "low", y2: "high", stroke: "framework", strokeOpacity: 0.5 }),
      ...linesOf(points, line),
      Plot.dot(points, {
        x: "load",
        y: "estimate",
        fill: "framework",
        symbol: "runtime",
        r: 4,
        className: "mark",
        title: ({ name, load, estimate }) => `${name} at ${load} ${unit}: ${estimate.toPrecision(3)}`,
      }),
    ],
  });
}

/** What one choice costs at each endpoint. */
export function effect(
  endpoints: readonly Endpoint[],
  { to, from }: Pick<MainEffect, "to" | "from">,
  canvas: Canvas,
): Element {
  const data = endpoints.flatMap(({ endpoint, effects }) =>
    effects.flatMap((one) => (one.cpu && one.to === to && one.from === from ? [{ endpoint, ...one.cpu }] : [])),
  );
  return draw(`CPU time per request of ${to} ÷ ${from}`, canvas, {
    height: ROW_HEIGHT * data.length + 75,
    x: ratioAxis(
      `${to} ÷ ${from}`,
      data.flatMap(({ low, high }) => [low, high, 1]),
    ),
    y: { domain: data.map(({ endpoint }) => endpoint), label: null, tickFormat: shortOf },
    marks: [
      Plot.ruleX([1], { stroke: "currentColor", strokeOpacity: 0.4 }),
      Plot.ruleY(data, { x1: "low", x2: "high", y: "endpoint", strokeWidth: 2, stroke: "var(--series-1)" }),
      Plot.dot(data, {
        x: "estimate",
        y: "endpoint",
        r: 5,
        fill: "var(--series-1)",
        className: "mark",
        title: ({ endpoint, estimate, low, high }) =>
          `${endpoint}: ${estimate.toFixed(2)} (${low.toFixed(2)}–${high.toFixed(2)})`,
      }),
    ],
  });
}
