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
const colorOf = (name: string) => `var(--series-${COLORS.indexOf(name)})`;
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

/** An estimate and its interval in a row of a chart. */
interface Bar {
  readonly row: string;
  readonly estimate: number;
  readonly low: number;
  readonly high: number;
  readonly fill: string;
  readonly shape: string;
  readonly title: string;
}

/** Ratios with their intervals, a row each, on a log axis. @param axis its label @param more marks before and after */
function forest(
  title: string,
  [axis, data]: readonly [label: string, bars: readonly Bar[]],
  canvas: Canvas,
  more: (ends: { x1: number; x2: number }) => readonly [Plot.Markish[], Plot.Markish[]],
): Element {
  const x = ratioAxis(
    axis,
    data.flatMap(({ low, high }) => [low, high, 1]),
  );
  const [x1, x2] = x.domain;
  const [behind, before] = more({ x1, x2 });
  return draw(title, canvas, {
    height: ROW_HEIGHT * data.length + 75,
    x,
    y: { domain: data.map(({ row }) => row), label: null, tickFormat: shortOf },
    symbol,
    marks: [
      ...behind,
      Plot.ruleX([1], { stroke: "currentColor", strokeOpacity: 0.4 }),
      Plot.ruleY(data, { x1: "low", x2: "high", y: "row", stroke: "fill", strokeWidth: 2 }),
      Plot.dot(data, {
        x: "estimate",
        y: "row",
        fill: "fill",
        symbol: "shape",
        r: 5,
        className: "mark",
        title: "title",
      }),
      ...before,
    ],
  });
}

const spanOf = ({ estimate, low, high }: Pick<Bar, "estimate" | "low" | "high">) =>
  `${estimate.toFixed(2)} (${low.toFixed(2)}–${high.toFixed(2)})`;

/** CPU time per request over that of the first, with simultaneous intervals; those that tie with the first are shaded. */
export function intervals(endpoint: Endpoint, names: ReadonlySet<string>, canvas: Canvas): Element {
  const data = shownOf(endpoint, names).flatMap(({ name, framework, runtime, standing, warming }) => {
    if (!standing) return [];
    const { ratioToBest, groups, first } = standing;
    const state = warming ? `warming: ${warmingWords(warming)}` : `ties ${groups}`;
    const mark = { fill: colorOf(framework), shape: runtime, title: `${name}: ${spanOf(ratioToBest)}, ${state}` };
    return [{ row: name, ...ratioToBest, ...mark, groups: warming ? "?" : groups, first }];
  });
  const title = `CPU time per request at ${endpoint.endpoint}, as a multiple of the least`;
  return forest(title, ["CPU time per request ÷ least", data], canvas, (ends) => [
    [
      Plot.barX(
        data.filter(({ first }) => first),
        { ...ends, y: "row", fill: "var(--tie)", insetTop: -2, insetBottom: -2 },
      ),
    ],
    [Plot.text(data, { text: "groups", y: "row", frameAnchor: "right", dx: 20, fontWeight: "bold" })],
  ]);
}

/** What one choice costs at each endpoint. */
export function effect(
  endpoints: readonly Endpoint[],
  { to, from }: Pick<MainEffect, "to" | "from">,
  canvas: Canvas,
): Element {
  const data = endpoints.flatMap(({ endpoint, effects }) =>
    effects.flatMap(({ cpu, ...one }) =>
      cpu && one.to === to && one.from === from
        ? [{ row: endpoint, ...cpu, fill: colorOf("raw"), shape: "bun", title: `${endpoint}: ${spanOf(cpu)}` }]
        : [],
    ),
  );
  const title = `CPU time per request of ${to} ÷ ${from}`;
  return forest(title, [`${to} ÷ ${from}`, data], canvas, () => [[], []]);
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

/** A point of a server's line; one with a title has a mark. */
interface Point extends Shown {
  readonly x: number;
  readonly y: number;
  readonly low?: number;
  readonly high?: number;
  readonly title?: string;
}

/** A line per server, that of Node dashed, on a log scale. */
function lines(title: string, points: readonly Point[], canvas: Canvas, { x, y }: Pick<Plot.PlotOptions, "x" | "y">) {
  const line = { x: "x", y: "y", z: "name", stroke: ({ framework }: Point) => colorOf(framework), strokeWidth: 1.8 };
  const isOfNode = ({ runtime }: Point) => runtime === "node";
  return draw(title, canvas, {
    height: 340,
    marginLeft: 60,
    x: { labelOffset: LABEL_OFFSET, grid: true, ...x },
    y: { type: "log", grid: true, ticks: 5, tickFormat: "~g", ...y },
    symbol,
    marks: [
      Plot.ruleX(
        points.filter(({ low }) => low !== undefined),
        { x: "x", y1: "low", y2: "high", stroke: line.stroke, strokeOpacity: 0.5 },
      ),
      Plot.line(
        points.filter((point) => !isOfNode(point)),
        line,
      ),
      Plot.line(points.filter(isOfNode), { ...line, strokeDasharray: "5 3" }),
      Plot.dot(
        points.filter(({ title }) => title !== undefined),
        { x: "x", y: "y", fill: line.stroke, symbol: "runtime", r: 4, className: "mark", title: "title" },
      ),
    ],
  });
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
    if (!server) return [];
    return ms.map((y, i) => {
      const p = percentiles[i] as number;
      return { ...server, x: nines(p), y, ...(p === 99 && { title: `${name}: p99 ${y.toFixed(2)} ms` }) };
    });
  });
  const tickFormat = (value: number) => `${Number((100 - 100 * 10 ** -value).toFixed(1))}`;
  return lines(`Latency by percentile at ${endpoint.endpoint}`, points, canvas, {
    x: { label: "percentile", ticks: [10, 50, 90, 99, 99.9].map(nines), tickFormat },
    y: { label: "latency, ms" },
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
  const { unit = "requests/s" } = endpoints[0]?.level ?? {};
  const points = endpoints.flatMap((endpoint) =>
    shownOf(endpoint, names).flatMap((row) => {
      const value = { cost: row.cpuUsPerRequest, p99: row.latencyMs[99], answered: row.goodput }[of];
      if (!value || !endpoint.level) return [];
      const { estimate: y, low, high } = value;
      const x = endpoint.level.value;
      return [{ ...row, x, y, low, high, title: `${row.name} at ${x} ${unit}: ${y.toPrecision(3)}` }];
    }),
  );
  const scale = unit === "connections" ? ({ type: "log" } as const) : { zero: true };
  return lines(`${OVER_LOAD[of]} over ${UNITS[unit]} at ${endpoints[0]?.base ?? ""}`, points, canvas, {
    x: { ...scale, label: UNITS[unit], ticks: 5, tickFormat: "~s" },
    y: { label: OVER_LOAD[of] },
  });
}

/** Values over time, and their level between changes. */
export function history(
  title: string,
  label: string,
  points: readonly { readonly at: Date; readonly value: number; readonly level: number; readonly part: number }[],
  canvas: Canvas,
): Element {
  return draw(title, canvas, {
    height: 220,
    marginLeft: 60,
    marginTop: 30,
    x: { type: "utc", label: null, ticks: 6 },
    y: { label, grid: true, nice: true },
    marks: [
      Plot.dot(points, { x: "at", y: "value", fill: colorOf("raw"), r: 3 }),
      Plot.line(points, { x: "at", y: "level", z: "part", stroke: "currentColor", strokeWidth: 2 }),
    ],
  });
}
