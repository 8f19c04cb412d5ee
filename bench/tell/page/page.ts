/** Runs in the reader's browser: draws the charts of the endpoint that is chosen, and keeps the choice in the URL. */
import { percent } from "../format.ts";
import type { Data } from "../html.ts";
import { addressIn, fragmentOf } from "./address.ts";
import { draw } from "./draw.ts";

const { charts, costs } = JSON.parse(document.getElementById("data")?.textContent ?? "") as Data;
const all = <T extends Element>(selector: string) => [...document.querySelectorAll<T>(selector)];

const endpointSelect = document.querySelector("#shown select") as HTMLSelectElement;
const firstEndpoint = endpointSelect.value;

function drawAll(): void {
  const one = endpointSelect.value;
  for (const part of all<HTMLElement>("[data-endpoint]")) part.hidden = one !== "all" && part.dataset.endpoint !== one;
  for (const [i, figure] of all<HTMLElement>("figure").entries()) {
    const chart = charts[i];
    if (chart && !figure.hidden)
      figure.querySelector(".chart")?.replaceChildren(draw(chart, { width: figure.clientWidth }));
  }
}

const mine = document.getElementById("mine") as HTMLFormElement;
const given = (name: string) => mine.elements.namedItem(name) as HTMLInputElement;
const NUMBERS = ["rate", "own", "cores"];

const addressNow = () => addressIn(location.hash.slice(1));

/** `#latency&endpoint=/plain&rate=200`: the part of the page, then the endpoint, then numbers of the calculator. */
function readAddress(): void {
  const { view, choices } = addressNow();
  endpointSelect.value = firstEndpoint;
  for (const [name, value] of choices) {
    if (name === "endpoint") endpointSelect.value = value;
    if (NUMBERS.includes(name)) given(name).value = value;
  }
  drawAll();
  drawMine();
  if (view) document.getElementById(view)?.scrollIntoView();
}

function writeAddress(): void {
  const one = endpointSelect.value;
  const changed = NUMBERS.map(given).filter(({ value, defaultValue }) => value !== defaultValue);
  const numbers = changed.map(({ name, value }) => [name, value] as const);
  const choices = [...(one === firstEndpoint ? [] : [["endpoint", one] as const]), ...numbers];
  history.replaceState(null, "", `#${fragmentOf({ ...addressNow(), choices })}`);
  for (const link of all<HTMLAnchorElement>("nav a"))
    link.hash = [link.dataset.view, ...location.hash.split("&").slice(1)].join("&");
}

function drawMine(): void {
  const [rate = 0, own = 0, cores = 1] = NUMBERS.map((name) => Number(given(name).value));
  const lines = (costs[given("path").value] ?? [])
    .toSorted(([, a], [, b]) => a - b)
    .map(([name, us]) => {
      const busy = rate * (us / 1e6 + own / 1e3);
      const row = document.createElement("tr");
      row.innerHTML = `<th scope="row"></th><td>${percent(busy)}</td><td>${percent(busy / cores)}</td>`;
      row.querySelector("th")?.append(name);
      return row;
    });
  mine.querySelector("tbody")?.replaceChildren(...lines);
}
const redraw = (draw: () => void) => () => {
  writeAddress();
  draw();
};
mine.addEventListener("input", redraw(drawMine));
mine.addEventListener("submit", (event) => event.preventDefault());
endpointSelect.addEventListener("change", redraw(drawAll));
addEventListener("hashchange", readAddress);
let width = innerWidth;
addEventListener("resize", () => {
  if (width !== innerWidth) drawAll();
  width = innerWidth;
});
addEventListener("beforeprint", () => {
  for (const details of all<HTMLDetailsElement>("details")) details.open = true;
});
readAddress();
