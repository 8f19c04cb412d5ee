/** The image, built and run for every server on a real engine. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { appendFileSync, chmodSync, cpSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { ENDPOINTS } from "../../bench/ask/endpoints.ts";
import { freePort } from "../../bench/host/free-port.ts";
import { verify } from "../../bench/run/targets/answers.ts";
import { readIdentity } from "../../bench/run/targets/target.ts";
import { describeIf, finish, makeDatabase, needs, SERVERS, scratch, until } from "../harness.ts";

const IMAGE = "simple-http-server-benchmark:test";
const HARDENED = ["--read-only", "--cap-drop", "ALL", "--memory", "512m"];
const folder = scratch();
const never = new AbortController().signal;

/** Runs docker. @throws with what it printed unless it exits 0. */
function docker(...args: string[]): string {
  const { status, stdout, stderr } = spawnSync("docker", args, { encoding: "utf8" });
  if (status !== 0) throw new Error(`docker ${args.join(" ")}: ${stderr}${stdout}`);
  return (stdout + stderr).trim();
}
const VOLUME = `http-benchmark-test-${process.pid}`;
const build = (context: string) => docker("build", "--network=host", "--tag", IMAGE, context);

describeIf(...needs("docker"), "image", () => {
  const containers: string[] = [];

  /** The command of the README, in the background. */
  async function start(server: string, ...options: string[]): Promise<{ id: string; url: string }> {
    const port = await freePort();
    const id =
      docker("run", "-d", "-e", `SERVER=${server}`, "-p", `127.0.0.1:${port}:3000`, ...options, IMAGE).split("\n")[0] ??
      "";
    containers.push(id);
    const url = `http://127.0.0.1:${port}`;
    await until(async () => {
      if (docker("inspect", "-f", "{{.State.Running}}", id) !== "true") throw new Error(docker("logs", id));
      return (await fetch(url).catch(() => null))?.ok === true;
    });
    return { id, url };
  }

  beforeAll(() => {
    build(".");
  });
  afterAll(() => {
    if (containers.length > 0) docker("rm", "-f", ...containers);
    docker("volume", "rm", "-f", VOLUME);
    docker("rmi", "-f", IMAGE);
  });

  for (const server of SERVERS) {
    test(`${server} answers in a hardened container, and exits 0 within 5 s`, async () => {
      const { id, url } = await start(server, ...HARDENED);
      const identity = await readIdentity(url, never);
      expect(identity).toMatchObject({ server, workers: 1, pid: 1 });
      await verify({ name: server, url }, ENDPOINTS, never);
      docker("stop", "--time", "5", id); // 137 if it had to be killed
      expect(docker("inspect", "-f", "{{.State.ExitCode}}", id)).toBe("0");
      expect(docker("logs", id)).toBe("");
    });
  }

  test("WORKERS and SQLITE_DRIVER reach the server", async () => {
    const { url } = await start("node-fastify", ...HARDENED, "-e", "WORKERS=2", "-e", "SQLITE_DRIVER=node:sqlite");
    expect(await readIdentity(url, never)).toMatchObject({ workers: 2, driver: { name: "node:sqlite" } });
  });

  test("a volume and DB_FILE replace the database", async () => {
    const data = join(folder, "data");
    mkdirSync(data);
    chmodSync(folder, 0o755);
    makeDatabase(join(data, "small.db"), 1);
    const { url } = await start("bun-raw", ...HARDENED, "-v", `${data}:/data:ro`, "-e", "DB_FILE=/data/small.db");
    const rows = (await (await fetch(`${url}/sqlite/random-5fields/3`)).json()) as { id: number }[];
    expect(rows.map(({ id }) => id)).toEqual([1, 1, 1]);
  });

  test("a volume keeps contents", async () => {
    const again = () => start("node-hono", ...HARDENED, "-v", `${VOLUME}:/contents`, "-e", "STORE=sqlite");
    const first = await again();
    const body = JSON.stringify({ title: "kept", body: "kept", author: "kept" });
    const headers = { "content-type": "application/json" };
    const created = await (await fetch(`${first.url}/content`, { method: "POST", headers, body })).json();
    docker("stop", first.id);
    const second = await again();
    expect(await (await fetch(`${second.url}/content/${created.id}`)).json()).toEqual(created);
  });

  test("it does not run as root and cannot write its own files", () => {
    const said = docker(
      "run",
      "--rm",
      "--entrypoint",
      "sh",
      IMAGE,
      "-c",
      "id -u; touch x data.db servers/x 2>&1; true",
    );
    expect(said).toStartWith("1000\n");
    expect(said.match(/Permission denied/g)).toHaveLength(3);
  });

  test("it reports its health", async () => {
    const { id } = await start("bun-hono", ...HARDENED, "--health-interval", "1s");
    const health = () => docker("inspect", "-f", "{{.State.Health.Status}}", id);
    await until(() => health() === "healthy");
  });

  test("an unknown SERVER prints the ten names and exits 1", async () => {
    for (const args of [["-e", "SERVER=koa"], []]) {
      const { code, output } = await finish(["docker", "run", "--rm", ...args, IMAGE]);
      expect(code).toBe(1);
      expect(output).toContain(`set it to one of ${SERVERS.join(" ")}\n`);
    }
  });

  test("a changed adapter does not install packages again", () => {
    const context = join(folder, "context");
    const copied = readFileSync("Dockerfile", "utf8").matchAll(/^COPY (?!--)(.+) \S+$/gm);
    for (const name of new Set([...copied].flatMap(([, names = ""]) => names.split(" ")))) {
      cpSync(name, join(context, name), { recursive: true, preserveTimestamps: true });
    }
    cpSync("Dockerfile", join(context, "Dockerfile"));
    const id = (tag: string) => docker("inspect", "-f", "{{json .RootFS.Layers}}", tag);
    build(context); // again, because other tests may have built it meanwhile, without these layers
    const before = JSON.parse(id(IMAGE));
    appendFileSync(join(context, "servers/hono.ts"), "// changed\n");
    build(context);
    const after = JSON.parse(id(IMAGE));
    expect(after).toHaveLength(before.length);
    expect(after.slice(0, -1)).toEqual(before.slice(0, -1));
    expect(after.at(-1)).not.toBe(before.at(-1));
  });
});
