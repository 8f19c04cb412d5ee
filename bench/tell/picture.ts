import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Window } from "happy-dom";
import { intervals } from "./charts.ts";
import { draw } from "./page/draw.ts";
import type { Report } from "./report.ts";

/** The endpoint that says most in one picture, if it was measured. */
export const TYPICAL = "/sqlite/random-5fields/5";

/** @returns an SVG of CPU time per request at one endpoint, in the colours that the reader prefers. */
export function picture({ run, endpoints }: Report): string {
  const endpoint = endpoints.find((one) => one.endpoint === TYPICAL) ?? endpoints[0];
  if (!endpoint) return "";
  const { document } = new Window();
  const names = new Set(endpoint.rows.map(({ name }) => name));
  const svg = draw(intervals(endpoint), names, { width: 760, document: document as unknown as Document });
  const [root = ""] = /:root \{[^}]*\}/.exec(readFileSync(join(import.meta.dirname, "page/style.css"), "utf8")) ?? [];
  const style = document.createElement("style");
  style.textContent = root;
  // A picture is passed on without the words around it.
  const title = document.createElementNS("http://www.w3.org/2000/svg", "text");
  title.textContent = `CPU time per request at ${endpoint.endpoint}, with 95 % intervals; shaded servers tie (${run.slice(0, 10)})`;
  title.setAttribute("x", "8");
  title.setAttribute("y", "14");
  title.setAttribute("text-anchor", "start");
  svg.prepend(style as unknown as Node, title as unknown as Node);
  svg.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  return `${svg.outerHTML}\n`;
}
