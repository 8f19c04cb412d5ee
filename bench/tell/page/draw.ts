/** Draws charts, in the reader's browser and for pictures. */
import * as Plot from "@observablehq/plot";
import { nines, shortOf } from "../format.ts";

/** A chart as data: lines, or, without a label of a y axis, ratios on a log axis, one row each. */
export interface Chart {
  readonly kind: "intervals" | "effect" | "latencies" | "load";
  readonly caption: string;
  /** It is shown if this endpoint is chosen; null: always. */
  readonly endpoint: string | null;
  readonly title: string;
  readonly x: string;
  readonly y: string | null;
  readonly scale: "log" | "linear" | "nines";
  readonly series: readonly Series[];
}

/** Shape is the runtime, colour the framework, because some readers distinguish few colours; in other languages both are the language. */
export interface Series {
  /** Null if it belongs to no server. */
  readonly server: string | null;
  readonly color: string;
  readonly shape: string;
  readonly points: readonly Point[];
}

/** Has a mark only if it has a title; `text`: its letters; `first`: not distinguishable from the least. */
export type Point = { readonly x: number; readonly y: number | string; readonly title?: string } & Partial<
  Readonly<{ low: number; high: number; text: string; first: boolean }>
>;

/** Where and how wide a chart is drawn; `document` if there is no browser. */
export type Canvas = Readonly<{ width: number; document?: Document }>;

type Mark = Series & Point;

export function draw(chart: Chart, canvas: Canvas): Element {
  const marks = chart.series.flatMap((series) => series.points.map((point): Mark => ({ ...series, ...point })));
  return plot(chart.title, canvas, chart.y === null ? forest(chart, marks) : lines(chart, marks));
}

function plot(title: string, { width, document }: Canvas, options: Plot.PlotOptions): Element {
  const element = Plot.plot({
    width,
    marginLeft: Math.min(190, width / 2.4),
    marginRight: 24,
    marginBottom: 45,
    style: { fontSize: "13px", background: "none" },
    ...(document && { document }),
    ...options,
  });
  // One image with one name: screen readers ignore labels of its parts.
  for (const part of element.querySelectorAll("[aria-label]")) part.removeAttribute("aria-label");
  element.setAttribute("role", "img");
  element.setAttribute("aria-label", title);
  return element;
}

/** Offset of an axis's label, so that it is below the numbers. */
const X = { grid: true, labelOffset: 38 } as const;

/** How far an axis goes beyond its data, as a factor. */
const PADDING = 1.02;
const ROW_HEIGHT = 26;

function forest({ x: label }: Chart, marks: readonly Mark[]): Plot.PlotOptions {
  const ends = marks.flatMap(({ low = 1, high = 1 }) => [low, high, 1]);
  const [x1, x2] = [Math.min(...ends) / PADDING, Math.max(...ends) * PADDING];
  const tied = marks.filter(({ first }) => first);
  const ties = { x1, x2, y: "y", fill: "var(--tie)", insetTop: -2, insetBottom: -2 };
  const dot = { x: "x", y: "y", fill: "color", symbol: "shape", r: 5, className: "mark", title: "title" } as const;
  return {
    height: ROW_HEIGHT * marks.length + 75,
    x: { ...X, type: "log", domain: [x1, x2], label, ticks: ticksOf(x1, x2), tickFormat: String },
    y: { domain: marks.map(({ y }) => y), label: null, tickFormat: shortOf },
    symbol: { type: "identity" },
    color: { type: "identity" },
    marks: [
      Plot.barX(tied, ties),
      Plot.ruleX([1], { stroke: "currentColor", strokeOpacity: 0.4 }),
      Plot.ruleY(marks, { x1: "low", x2: "high", y: "y", stroke: "color", strokeWidth: 2 }),
      Plot.dot(marks, dot),
      Plot.text(marks, { text: "text", y: "y", frameAnchor: "right", dx: 20, fontWeight: "bold" }),
    ],
  };
}

/** Ticks of a log axis, the most usual numbers first, as many as do not overlap. */
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

const SCALES: Readonly<Record<Chart["scale"], Plot.ScaleOptions>> = {
  log: { type: "log", ticks: 5, tickFormat: "~s" },
  linear: { zero: true, ticks: 5, tickFormat: "~s" },
  nines: {
    ticks: [10, 50, 90, 99, 99.9].map(nines),
    tickFormat: (place: number) => `${Number((100 - 100 * 10 ** -place).toFixed(1))}`,
  },
};

/** A line per server; dashed for Node. */
function lines({ x, y, scale }: Chart, marks: readonly Mark[]): Plot.PlotOptions {
  const line = { x: "x", y: "y", z: "server", stroke: "color", strokeWidth: 1.8 };
  const { true: dashed = [], false: solid = [] } = Object.groupBy(
    marks,
    ({ shape }) => `${shape === "square"}` as const,
  );
  const dot = { x: "x", y: "y", fill: "color", symbol: "shape", r: 4, className: "mark", title: "title" } as const;
  const titled = marks.filter(({ title }) => title !== undefined);
  return {
    height: 340,
    marginLeft: 60,
    x: { ...X, ...SCALES[scale], label: x },
    y: { type: "log", grid: true, ticks: 5, tickFormat: "~g", label: y },
    symbol: { type: "identity" },
    color: { type: "identity" },
    marks: [
      Plot.ruleX(marks, { x: "x", y1: "low", y2: "high", stroke: "color", strokeOpacity: 0.5 }),
      Plot.line(solid, line),
      Plot.line(dashed, { ...line, strokeDasharray: "5 3" }),
      Plot.dot(titled, dot),
    ],
  };
}

/** Values over time, and their level between changes. */
export const history = (
  title: string,
  label: string,
  points: readonly { readonly at: Date; readonly value: number; readonly level: number; readonly part: number }[],
  canvas: Canvas,
): Element =>
  plot(title, canvas, {
    height: 220,
    marginLeft: 60,
    x: { type: "utc", label: null, ticks: 6 },
    y: { label, grid: true, nice: true },
    marks: [
      Plot.dot(points, { x: "at", y: "value", fill: "currentColor", r: 3 }),
      Plot.line(points, { x: "at", y: "level", z: "part", stroke: "currentColor", strokeWidth: 2 }),
    ],
  });
