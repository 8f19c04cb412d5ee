import { expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { generateMersenne53Randomizer } from "@faker-js/faker";
import jStat from "jstat";
import { changePoints } from "../../bench/judge/changes.ts";
import { checkResults, RESULT_COLUMNS } from "../../bench/keep/results.ts";
import { historyLines, historyPage, readHistory } from "../../bench/tell/history.ts";
import { scratch } from "../harness.ts";

const random = generateMersenne53Randomizer();
random.seed(3);
jStat.setRandom(() => random.next());
/** Values with a standard deviation of 2 % around levels, which are given with their lengths. */
const series = (...parts: [level: number, length: number][]) =>
  parts.flatMap(([level, length]) => Array.from({ length }, () => level * (1 + 0.02 * jStat.randn())));

test("a change is found where it is, and most flat series have none", () => {
  expect(changePoints([])).toEqual([]);
  expect(changePoints([1, 2, 1, 2, 1])).toEqual([]);
  expect(changePoints(Array(20).fill(1))).toEqual([]);
  expect(changePoints([...Array(10).fill(1), ...Array(10).fill(2)])).toEqual([10]);
  const found = Array.from({ length: 40 }, () => changePoints(series([1, 12], [1.1, 12])));
  expect(found.filter(([at = 0]) => Math.abs(at - 12) <= 1).length).toBeGreaterThanOrEqual(38);
  const flat = Array.from({ length: 100 }, () => changePoints(series([1, 24])).length);
  expect(flat.filter((n) => n > 0).length).toBeLessThanOrEqual(10); // 5 are expected
  const [first = 0, second = 0] = changePoints(series([1, 10], [1.2, 10], [1.05, 10]));
  expect([Math.abs(first - 10) <= 1, Math.abs(second - 20) <= 1]).toEqual([true, true]);
});

test("72 series of 8 to 20 runs without a change: at most 5 % of reports show one; a clear change is shown", () => {
  const REPORTS = 300;
  const lengths = Array.from({ length: REPORTS }, (_, i) => 8 + (i % 13));
  const shows = (length: number) =>
    Array.from({ length: 72 }, () => changePoints(series([1, length]), 72)).some((found) => found.length > 0);
  expect(lengths.filter(shows).length / REPORTS).toBeLessThan(0.08); // 5 % are expected, ± 1.3
  const clear = Array.from({ length: 20 }, () => changePoints(series([1, 8], [1.1, 8]), 72));
  expect(clear.filter(([at = 0]) => Math.abs(at - 8) <= 1).length).toBeGreaterThanOrEqual(18);
});

test("since when: compared with a server of the same runs, the effect of the machine cancels", async () => {
  const file = join(scratch(), "history.csv");
  const rows = Array.from({ length: 20 }, (_, day) => {
    const machine = 1 + (day % 3);
    const app = day < 12 ? 1.4 : 1.6;
    const row = (Name: string, toLeast: number) =>
      RESULT_COLUMNS.map(
        (column) =>
          ({
            Name,
            Endpoint: "/",
            CpuToLeast: toLeast * (1 + 0.01 * Math.sin(day)),
            CpuUsPerRequest: 10 * machine * toLeast,
            Run: `2026-01-${String(day + 1).padStart(2, "0")}T00:00:00.000Z`,
          })[column as "Name"] ?? "",
      ).join();
    return [row("bun-raw", 1), row("my-app", app)];
  });
  const write = (runs: number) =>
    writeFileSync(file, `${[RESULT_COLUMNS.join(), ...rows.slice(0, runs).flat()].join("\n")}\n`);
  write(20);
  const history = readHistory(file);
  expect(historyLines(history)).toEqual(["my-app ÷ bun-raw at /: +14.3 % since 2026-01-13T00:00:00.000Z: 1.40 → 1.60"]);
  expect(await historyPage(history, file)).toContain('aria-label="my-app ÷ bun-raw at /, run by run"');
  // As a spreadsheet saves it.
  writeFileSync(file, `\uFEFF${readFileSync(file, "utf8").replaceAll("\n", "\r\n")}`);
  checkResults(file);
  expect(readHistory(file)).toEqual(history);
  write(8);
  expect(historyLines(readHistory(file))).toEqual(["no change in 8 runs: my-app ÷ bun-raw at /"]);
  write(3);
  expect(() => readHistory(file)).toThrow("has at most 3 runs of a server: detecting a change requires 8");
  expect(() => readHistory("none.csv")).toThrow("none.csv");
});
