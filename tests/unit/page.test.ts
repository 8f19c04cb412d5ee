/** The page of the newest committed run, or of one of known truth, as a reader's browser shows it. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import puppeteer, { type Browser, type Page } from "puppeteer-core";
import { PUBLISHED, runsIn } from "../../bench/keep/files.ts";
import { nameOfChoice } from "../../bench/tell/choices.ts";
import { html } from "../../bench/tell/html.ts";
import { newestOf, readReport, reportOf, TYPICAL } from "../../bench/tell/report.ts";
import { CHROMIUM, describeIf, needs, scratch } from "../harness.ts";
import { known } from "./known.ts";

const AXE = readFileSync(resolve("node_modules/axe-core/axe.min.js"), "utf8");
const FILE = join(scratch(), "report.html");
const ADDRESS = pathToFileURL(FILE).href;
const WHOLE = `${ADDRESS}#answer&endpoint=all`;
/** The folder for screenshots. */
const SHOTS = resolve(".tools/screenshots");

describeIf(...needs("chromium"), "report.html", () => {
  const { slices, windows, manifest } = known({ twin: "bun-raw" });
  const committed = newestOf(runsIn(PUBLISHED).map((run) => readReport(PUBLISHED, run)));
  const report = committed.get("read") ?? reportOf({ slices, windows }, manifest);
  const { endpoints } = report;
  let browser: Browser;
  let page: Page;
  const complaints: string[] = [];
  const requests: string[] = [];

  beforeAll(async () => {
    mkdirSync(SHOTS, { recursive: true });
    writeFileSync(FILE, await html(report));
    browser = await puppeteer.launch({ executablePath: CHROMIUM as string, args: ["--no-sandbox"] });
    page = await browser.newPage();
    page.on("console", (message) => void (message.type() === "error" && complaints.push(message.text())));
    page.on("pageerror", (error) => void complaints.push(String(error)));
    page.on("request", (request) => void requests.push(request.url()));
    await page.setViewport({ width: 1280, height: 900 });
    await page.goto(WHOLE);
  });
  afterAll(() => browser?.close());

  const marks = (chart: string) =>
    page.$$eval(`figure[data-chart="${chart}"]`, (figures) =>
      figures.filter((figure) => !figure.hidden).map((figure) => figure.querySelectorAll(".mark > *").length),
    );
  const shownTables = () =>
    page.$$eval("#tables [data-endpoint]", (parts) =>
      parts.filter((part) => part.checkVisibility()).map((part) => (part as HTMLElement).dataset.endpoint),
    );

  test("no error, and no request except for the file itself", () => {
    expect(complaints).toEqual([]);
    expect(requests.filter((url) => !url.startsWith("data:"))).toEqual([WHOLE]);
  });

  test.each(["intervals", "latencies"])("%s: one mark per server and a chart per endpoint", async (chart) => {
    expect(await marks(chart)).toEqual(endpoints.map(({ rows }) => rows.length));
  });

  test("effects: one mark per endpoint that compared some pair", async () => {
    const all = endpoints.flatMap(({ effects }) => effects);
    const compared = [...Map.groupBy(all, nameOfChoice).values()].map((of) => of.filter(({ cpu }) => cpu).length);
    expect(await marks("effect")).toEqual(compared);
  });

  test("every chart says what it shows, and its numbers are text", async () => {
    const labels = await page.$$eval(".chart svg", (charts) =>
      charts.map((chart) => chart.getAttribute("aria-label") ?? ""),
    );
    expect(labels.filter((label) => label.length < 20)).toEqual([]);
    const text = await page.$eval("#tables", (tables) => tables.textContent ?? "");
    for (const { rows } of endpoints) {
      for (const { standing } of rows) expect(text).toContain(standing?.ratioToBest.estimate.toFixed(2) ?? "-");
    }
  });

  test("an endpoint is chosen by keyboard, and the address keeps it", async () => {
    await page.focus("#shown select");
    await page.keyboard.type("/plain");
    await page.keyboard.press("Enter");
    const rows = endpoints.find(({ endpoint }) => endpoint === "/plain")?.rows.length as number;
    const isChosen = async () => {
      expect(await marks("intervals")).toEqual([rows]);
      expect(await shownTables()).toEqual(["/plain"]);
    };
    await isChosen();
    const address = page.url();
    expect(address).toEndWith("&endpoint=/plain");
    await page.goto("about:blank");
    await page.goto(address);
    await isChosen();
    await page.goto("about:blank");
    await page.goto(ADDRESS);
    expect(await page.$eval("#shown select", (select) => select.value)).toBe(TYPICAL);
    expect(await marks("intervals")).toHaveLength(1);
  });

  test("the first screen: four questions, every server at every endpoint, and the meaning for the reader", async () => {
    const titles = await page.$$eval(".tile h3", (all) => all.map(({ textContent }) => textContent));
    expect(titles).toEqual(["Which?", "How much?", "Does it matter?", "Can I trust it?"]);
    const cells = await page.$$eval(".heat td a", (all) =>
      all.map(({ textContent }) => Number.parseFloat(textContent ?? "")),
    );
    const shown = endpoints[0]?.rows.filter(({ twinOf }) => twinOf === null).length ?? 0;
    expect(cells).toHaveLength(shown * endpoints.length);
    expect(Math.min(...cells)).toBe(1);
    const shares = async (own: string) => {
      await page.$eval(
        '#mine [name="own"]',
        (input, value) => {
          (input as HTMLInputElement).value = value;
          input.dispatchEvent(new Event("input", { bubbles: true }));
        },
        own,
      );
      return page.$$eval("#mine tbody td:nth-child(2)", (all) =>
        all.map(({ textContent }) => Number.parseFloat(textContent ?? "")),
      );
    };
    const [without, withCode] = [await shares("0"), await shares("10")];
    expect(without).toHaveLength(shown);
    // 1,000 requests/s × 10 ms are ten cores.
    for (const [i, share] of withCode.entries()) expect(share - (without[i] as number)).toBeWithin(998, 1002);
    expect(page.url()).toEndWith("&own=10");
    await page.goto("about:blank");
    await page.goto(`${ADDRESS}#mine&rate=2000&own=10&cores=20`);
    const ofAll = await page.$$eval("#mine tbody td:nth-child(3)", (all) =>
      all.map(({ textContent }) => Number.parseFloat(textContent ?? "")),
    );
    for (const share of ofAll) expect(share).toBeWithin(100, 130);
    await page.click(".heat td:nth-child(3) a");
    await page.waitForFunction(() => location.hash.startsWith("#cpu&endpoint="));
    expect(await marks("intervals")).toHaveLength(1);
    await page.goto("about:blank");
    await page.goto(ADDRESS);
  });

  // Colours do not depend on the width, and overflow does not depend on colours.
  test.each([
    ["light", 1280],
    ["dark", 390],
  ] as const)("%s, %d pixels wide: nothing sticks out, no accessibility violation", async (scheme, width) => {
    await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: scheme }]);
    await page.setViewport({ width, height: 900 });
    await page.goto("about:blank");
    await page.goto(WHOLE);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width);
    await page.evaluate(AXE);
    const violations = await page.evaluate(async () => {
      const { axe } = window as unknown as {
        axe: { run(): Promise<{ violations: { id: string; nodes: { html: string }[] }[] }> };
      };
      return (await axe.run()).violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html}`);
    });
    expect(violations).toEqual([]);
    await page.screenshot({ path: join(SHOTS, `${scheme}-${width}.png`) as `${string}.png` });
  });
});
