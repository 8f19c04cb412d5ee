/** Runs in the reader's browser: draws the charts of the servers and the endpoint that are chosen, and keeps the choice in the URL. */
import { percent } from "../format.ts";
import type { Report } from "../report.ts";
import * as charts from "./charts.ts";

const { endpoints, percentiles } = JSON.parse(document.getElementById("data")?.textContent ?? "") as {
  endpoints: Report["endpoints"];
  percentiles: number[];
};
const form = document.getElementById("filters") as HTMLFormElement;
const all = <T extends Element>(selector: string) => [...document.querySelectorAll<T>(selector)];

/** Chosen values of a group of boxes; all of them if none is ticked. */
function chosen(group: string): Set<string> {
  const boxes = all<HTMLInputElement>(`input[name="${group}"]`);
  const ticked = boxes.filter(({ checked }) => checked);
  return new Set((ticked.length > 0 ? ticked : boxes).map(({ value }) => value));
}

const endpointSelect = form.elements.namedItem("endpoint") as HTMLSelectElement;
const endpointChosen = () => endpointSelect.value;
const ALL = "all";
/** What is shown first. */
const firstEndpoint = endpointChosen();

function shownNames(): Set<string> {
  const groups = [...new Set(all<HTMLInputElement>("#filters input").map(({ name }) => name))];
  const allowed = new Map(groups.map((group) => [group, chosen(group)]));
  const rows = all<HTMLElement>("tr[data-name]").filter((row) =>
    groups.every((group) => allowed.get(group)?.has(row.dataset[group] ?? "")),
  );
  return new Set(rows.map((row) => row.dataset.name as string));
}

function drawAll(): void {
  const names = shownNames();
  const one = endpointChosen();
  for (const row of all<HTMLElement>("tr[data-name]")) row.hidden = !names.has(row.dataset.name as string);
  for (const section of all<HTMLElement>("[data-endpoint]"))
    section.hidden = one !== ALL && section.dataset.endpoint !== one;
  for (const figure of all<HTMLElement>("figure[data-chart]")) {
    if (figure.hidden) continue;
    const { chart, endpoint: path, to = "", from = "" } = figure.dataset;
    const endpoint = endpoints.find((candidate) => candidate.endpoint === path);
    const canvas = { width: figure.clientWidth };
    const drawn = (() => {
      if (chart === "effect") return charts.effect(endpoints, { to, from }, canvas);
      if (chart === "cost" || chart === "p99" || chart === "answered") {
        const leveled = endpoints.filter(({ base, level }) => level !== null && base === path);
        return charts.overLoad(leveled, chart, names, canvas);
      }
      if (!endpoint) return null;
      if (chart === "intervals") return charts.intervals(endpoint, names, canvas);
      return charts.latencies(endpoint, percentiles, names, canvas);
    })();
    if (drawn) figure.querySelector(".chart")?.replaceChildren(drawn);
  }
}

const mine = document.getElementById("mine") as HTMLFormElement;
const given = (name: string) => mine.elements.namedItem(name) as HTMLInputElement;
/** Numbers of the calculator. */
const NUMBERS = ["rate", "own", "cores"];

/** `#latency&endpoint=/plain&runtime=bun&rate=200`: the part of the page, then what is chosen, then numbers of the calculator. */
function readAddress(): void {
  const [view = "", ...choices] = decodeURIComponent(location.hash.slice(1)).split("&");
  endpointSelect.value = firstEndpoint;
  for (const box of all<HTMLInputElement>("#filters input")) box.checked = false;
  for (const choice of choices) {
    const [name = "", value = ""] = choice.split("=");
    if (name === "endpoint") endpointSelect.value = value;
    if (NUMBERS.includes(name)) given(name).value = value;
    for (const box of all<HTMLInputElement>(`input[name="${name}"]`)) if (box.value === value) box.checked = true;
  }
  drawAll();
  drawMine();
  if (view) document.getElementById(view)?.scrollIntoView();
}

function writeAddress(): void {
  const [view = ""] = location.hash.slice(1).split("&");
  const ticked = all<HTMLInputElement>("#filters input:checked").map(({ name, value }) => `${name}=${value}`);
  const one = endpointChosen();
  const numbers = NUMBERS.map(given).flatMap(({ name, value, defaultValue }) =>
    value === defaultValue ? [] : [`${name}=${value}`],
  );
  history.replaceState(
    null,
    "",
    `#${[view, ...(one === firstEndpoint ? [] : [`endpoint=${one}`]), ...ticked, ...numbers].join("&")}`,
  );
  for (const link of all<HTMLAnchorElement>("nav a"))
    link.hash = [link.dataset.view, ...location.hash.split("&").slice(1)].join("&");
}

/** What the servers need of the reader's machine. */
function drawMine(): void {
  const number = (name: string) => Number(given(name).value);
  const rows = endpoints.find(({ endpoint }) => endpoint === given("path").value)?.rows ?? [];
  const lines = rows
    .flatMap(({ name, cpuUsPerRequest, twinOf }) =>
      cpuUsPerRequest && !twinOf ? [{ name, us: cpuUsPerRequest.estimate }] : [],
    )
    .map(({ name, us }) => ({
      name,
      cores: number("rate") * (us / 1e6 + number("own") / 1e3),
    }))
    .sort((a, b) => a.cores - b.cores)
    .map(({ name, cores }) => {
      const row = document.createElement("tr");
      for (const text of [name, percent(cores), percent(cores / number("cores"))]) {
        const cell = document.createElement(row.childElementCount === 0 ? "th" : "td");
        cell.textContent = text;
        if (cell.tagName === "TH") cell.setAttribute("scope", "row");
        row.append(cell);
      }
      return row;
    });
  mine.querySelector("tbody")?.replaceChildren(...lines);
}
mine.addEventListener("input", () => {
  writeAddress();
  drawMine();
});
mine.addEventListener("submit", (event) => event.preventDefault());

form.addEventListener("change", () => {
  writeAddress();
  drawAll();
});
form.addEventListener("reset", () => setTimeout(() => form.dispatchEvent(new Event("change")))); // after it is reset
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
