/** The hand-written twins that adapters are compared with answer what the adapters answer. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import { freePort } from "../../bench/targets/free-port.ts";
import { makeDatabase, run, SERVERS, scratch, until } from "../harness.ts";

const file = makeDatabase(join(scratch(), "data.db"), 100_000);

for (const server of SERVERS) {
  const [runtime = "", framework = ""] = server.split("-");
  test(server, async () => {
    const port = await freePort();
    const twin = run([runtime, `tests/handwritten/${framework === "raw" ? server : framework}.ts`], {
      PORT: String(port),
      DB_FILE: file,
    });
    const get = (path: string) => fetch(`http://127.0.0.1:${port}${path}`);
    try {
      await until(async () => (await get("/plain").catch(() => null))?.ok === true);
      expect(await (await get("/plain")).text()).toBe('{"message":"Hello, world!"}');
      const rows = (await (await get("/sqlite/random-5fields/5")).json()) as object[];
      expect(rows.map((row) => Object.keys(row).length)).toEqual([6, 6, 6, 6, 6]);
    } finally {
      twin.child.kill("SIGKILL");
      await twin.ended;
    }
  });
}
