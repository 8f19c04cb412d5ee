/** The rules of the repository itself. */
import { describe, expect, test } from "bun:test";
import { globSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import packageJson from "../../package.json" with { type: "json" };
import matrix from "../../servers/matrix.json" with { type: "json" };
import type { Database } from "../../shared/contract.ts";
import { DRIVERS } from "../../shared/drivers/drivers.ts";
import { PEOPLE } from "../../shared/people.ts";
import { PRAGMAS, prepare } from "../../shared/stores/people.ts";
import { finish, makeDatabase, needs, scratch, testIf } from "../harness.ts";

const read = (file: string) => readFileSync(file, "utf8");

test("types: tsc", async () => {
  expect(await finish(["tsc"])).toEqual({ code: 0, signal: null, output: "" });
});

test("format and lint: biome", async () => {
  const { code, output } = await finish(["biome", "check", "--error-on-warnings", "."]);
  expect([code, code === 0 ? "" : output]).toEqual([0, ""]);
});

/** The stages of a run: a folder of bench/ imports from earlier ones only. */
const STAGES = "host load ask plan keep judge run self-test tell commands".split(" ");

test("in bench/ imports go one way", () => {
  const files = globSync("bench/**/*.{ts,js}");
  const placeOf = (file: string) => {
    const [, folder = "", ...path] = file.split("/");
    return path.length === 0 ? STAGES.length : STAGES.indexOf(folder);
  };
  const isOutside = (file: string) =>
    file.startsWith("shared/") || ["servers/matrix.json", "stacks/stacks.json"].includes(file);
  const wrong = files.flatMap((file) => {
    const imports = read(file).matchAll(/\b(?:from |import |import\()"(\.{1,2}\/[^"]*)"/g);
    return [...imports].flatMap(([, path = ""]) => {
      const to = relative(".", join(file, "..", path));
      const place = to.startsWith("bench/") ? placeOf(to) : isOutside(to) ? 0 : -1;
      return place >= 0 && place <= placeOf(file) ? [] : [`${file} imports ${to}`];
    });
  });
  expect([files.length > 50, wrong]).toEqual([true, []]);
});

testIf(...needs("shellcheck"), "shell: shellcheck", async () => {
  const scripts = [
    ...globSync("**/*.sh", { exclude: ["node_modules", ".tools", "stacks/*/build"] }),
    ".ci/run",
    ".ci/docker",
  ];
  expect(await finish(["shellcheck", "-x", ...scripts])).toEqual({ code: 0, signal: null, output: "" });
});

test("versions are exact, and the same everywhere", () => {
  const { dependencies, devDependencies, optionalDependencies } = packageJson;
  for (const [name, version] of Object.entries({ ...dependencies, ...devDependencies, ...optionalDependencies })) {
    expect([name, version]).toEqual([name, expect.stringMatching(/^\d+\.\d+\.\d+$/)]);
  }
  const [node, ...others] = new Set(Object.values(optionalDependencies));
  expect(others).toEqual([]);
  expect(read("Dockerfile")).toContain(`ARG NODE_VERSION=${node}\n`);
  expect(read("Dockerfile")).toContain(`ARG BUN_VERSION=${packageJson.packageManager.replace("bun@", "")}\n`);
  expect(read("Dockerfile")).toContain(`org.opencontainers.image.version="${packageJson.version}"`);
});

test("bun.lockb works with any registry", () => {
  expect(readFileSync("bun.lockb", "latin1")).not.toMatch(/https?:\/\/[^ ]+\.tgz/);
});

describe("equal work", () => {
  const file = makeDatabase(join(scratch(), "data.db"), 10);
  const adapters = globSync("servers/*.ts").filter((file) => !/(main|process|workers)\.ts$/.test(file));

  test("every adapter is in the matrix, and the matrix names no other", () => {
    const named = Object.values(matrix).map((command) => `servers/${command.split(" ").at(-1)}.ts`);
    expect([...new Set(named)].sort()).toEqual(adapters.sort());
    for (const [server, command] of Object.entries(matrix))
      expect(command).toStartWith(`${server.split("-")[0]} servers/main.ts `);
  });

  for (const file of adapters) {
    test(`${file} is glue: no SQL, template, environment, file or log of its own`, () => {
      expect(read(file)).not.toMatch(/select |sqlite|\beta\b|process\.env|node:fs|console\.|logger/i);
    });
  }

  test("every driver gets the same SQL, prepared once, whatever is asked", () => {
    const executed: string[] = [];
    const prepared: string[] = [];
    const ids: number[] = [];
    const database: Database = {
      exec: (sql) => executed.push(sql),
      prepare(sql) {
        prepared.push(sql);
        return {
          get(id) {
            if (id === undefined) return { first: 7, last: 9, rows: 3, version: "3.0.0" };
            ids.push(Number(id));
            return { id };
          },
          all: () => [],
          run: () => ({ changes: 0 }),
        };
      },
      close() {},
    };
    const store = prepare(database);
    const once = [...prepared];
    expect(executed).toEqual(PRAGMAS.map((pragma) => `PRAGMA ${pragma}`));
    for (const table of Object.keys(PEOPLE)) {
      expect(once.filter((sql) => sql === `SELECT * FROM ${table} WHERE id = ?`)).toHaveLength(1);
    }
    for (let i = 0; i < 10; i++) expect(store.randomRows("person30", 5)).toHaveLength(5);
    expect(prepared).toEqual(once);
    expect(ids).toHaveLength(50); // one query a row
    expect(new Set(ids)).toEqual(new Set([7, 8, 9]));
  });

  for (const [runtime, drivers] of Object.entries(DRIVERS)) {
    for (const driver of drivers) {
      test(`${driver} on ${runtime} is read-only and has the same settings`, async () => {
        const script = `
          import { PRAGMAS, prepare } from "./shared/stores/people.ts";
          const { default: open } = await import("./shared/drivers/${driver.replace(":", "-")}.ts");
          const db = open(${JSON.stringify(file)}, "read");
          prepare(db);
          const value = (name) => Object.values(db.prepare("PRAGMA " + name).get())[0];
          const settings = [...PRAGMAS.map((pragma) => pragma.split(" ")[0]), "journal_mode", "locking_mode"].map(value);
          let write = "written";
          try { db.exec("PRAGMA query_only = 0; CREATE TABLE t (a)"); } catch (error) { write = error.message; }
          console.log(JSON.stringify({ settings, write }));`;
        const { output } = await finish([
          runtime,
          ...(runtime === "bun" ? ["-e"] : ["--input-type=module", "-e"]),
          script,
        ]);
        expect(JSON.parse(output)).toEqual({
          settings: [-16000, 0, 1, "delete", "normal"],
          write: "attempt to write a readonly database",
        });
      });
    }
  }
});
