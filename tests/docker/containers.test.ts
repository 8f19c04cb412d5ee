/** bench.sh --docker: servers in containers of this machine's engine, and of another machine's, reached by ssh. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import {
  bench,
  describeIf,
  find,
  finish,
  IMAGE,
  must,
  needs,
  type Program,
  resultsIn,
  rowsOf,
  run,
  scratch,
  until,
  withImage,
  works,
} from "../harness.ts";

const folder = scratch();
const newFile = resultsIn(folder);

/** Containers and volumes of runs. */
const left = (env: Record<string, string> = {}) => [
  must(["docker", "ps", "-aq", "--filter", "label=http-benchmark"], env),
  must(["docker", "volume", "ls", "-q", "--filter", "label=http-benchmark"], env),
];

const short = (file: string, ...args: string[]) =>
  bench(file, "--image", IMAGE, "--endpoints", "/sqlite/random-30fields/10", ...args);

describeIf(...needs("docker"), "bench.sh --docker", () => {
  withImage();

  test("one of each runtime, in containers without a writable file system", async () => {
    const file = newFile();
    const servers = ["bun-elysia", "node-express"];
    const options = ["--docker", "--memory", "512m", "--read-only", "--servers", servers.join()];
    const { code, output } = await finish(short(file, ...options));
    expect([code, output]).toEqual([0, expect.stringContaining(" slices in ")]);
    const rows = rowsOf(file);
    expect([...new Set(rows.map(({ Name }) => Name))].sort()).toEqual(servers);
    for (const row of rows) {
      expect(row).toMatchObject({ "Error Count": "0", Sockets: "8" });
      expect(row.Target).not.toContain("127.0.0.1"); // the container itself, not the proxy of its port
      expect(Number(row.CpuUsPerRequest)).toBeGreaterThan(0);
      expect(Number(row.RssBytes)).toBeGreaterThan(10e6);
      expect(Number(row.StartupMs)).toBeGreaterThan(10);
    }
    expect(left()).toEqual(["", ""]);
  });

  test("a CPU quota is noticed", async () => {
    const file = newFile();
    const program = run(short(file, "--docker", "--servers", "bun-raw", "--seconds", "2"));
    await until(() => {
      const containers = left()[0]?.split("\n").filter(Boolean) ?? []; // each restart makes another
      if (containers.length > 0) spawnSync("docker", ["update", "--cpus", "0.2", ...containers]);
      return rowsOf(file).some(({ Verdict }) => Verdict === "rate-limited") || program.child.exitCode !== null;
    });
    program.child.kill("SIGTERM");
    await program.ended;
    // The first may have begun before; beside a neighbour they are starved.
    for (const { Verdict } of rowsOf(file).slice(1)) expect(["rate-limited", "starved"]).toContain(Verdict ?? "");
    expect(left()).toEqual(["", ""]);
  });

  test("what a killed run leaves is removed by the next", async () => {
    const killed = run(short(newFile(), "--docker", "--servers", "bun-raw,node-raw"));
    await until(() => left()[0]?.split("\n").length === 2);
    killed.child.kill("SIGKILL");
    await killed.ended;
    expect(left().map((ids) => ids.split("\n").length)).toEqual([2, 1]);
    const { code } = await finish(short(newFile(), "--docker", "--servers", "bun-raw"));
    expect([code, left()]).toEqual([0, ["", ""]]);
  });

  test("Ctrl-C leaves whole rows and no container", async () => {
    const file = newFile();
    const program = run(short(file, "--docker", "--servers", "bun-raw,node-raw"));
    await until(() => rowsOf(file).length > 0);
    program.child.kill("SIGINT");
    expect((await program.ended).code).toBe(130);
    expect(left()).toEqual(["", ""]);
    for (const row of rowsOf(file)) expect(row.BytesPerRequest).not.toBe("");
  });

  test.each([
    [["--docker", "--image", "missing:never"], 'there is no image "missing:never": make it by docker build'],
    [["--docker", "tcp://x"], '--docker is "tcp://x": write ssh://user@host'],
    [["--docker", "unix:///nowhere.sock"], "docker version at unix:///nowhere.sock failed"],
    [["--memory", "1g"], "--memory requires --docker"],
    [["--docker", "unix:///x", "http://127.0.0.1:1"], "--docker cannot be combined with a URL"],
  ])("%j is refused in one line", async (args, problem) => {
    const { code, output } = await finish(short(newFile(), ...args));
    expect([code, output.trimEnd().split("\n").at(-1)]).toEqual([1, expect.stringContaining(problem)]);
  });

  const tools = ["ip", "nsenter", "ssh", "sshd", "dockerd", "ssh-keygen"] as const;
  describeIf(...needs("root", ...tools), "another machine", () => anotherMachine());
});

/** A machine of its own: a network namespace with an engine and an sshd, reached by a key made for it. */
function anotherMachine(): void {
  const name = `vps${process.pid}`;
  // Not by ip netns exec, which also hides the control groups.
  const inside = (...command: string[]) => ["nsenter", `--net=/run/netns/${name}`, ...command];
  const at = (file: string) => join(folder, file);
  /** What this test sees of the engine there, past ssh. */
  const there = { DOCKER_HOST: `unix://${at("docker.sock")}` };
  const bin = at("bin");
  const env = { PATH: [bin, process.env.PATH].join(delimiter) };
  const programs: Record<string, Program> = {};
  const startEngine = async () => {
    const roots = ["--data-root", at("docker"), "--exec-root", at("exec"), "--pidfile", at("docker.pid")];
    programs.dockerd = run(inside("dockerd", ...roots, "-H", there.DOCKER_HOST));
    await until(() => works("docker", "-H", there.DOCKER_HOST, "version"));
  };

  beforeAll(async () => {
    must(["ip", "netns", "add", name]);
    must(["ip", "link", "add", `${name}a`, "type", "veth", "peer", "name", `${name}b`, "netns", name]);
    must(["ip", "address", "add", "10.99.0.1/30", "dev", `${name}a`]);
    must(["ip", "link", "set", `${name}a`, "up"]);
    must(inside("ip", "address", "add", "10.99.0.2/30", "dev", `${name}b`));
    for (const device of ["lo", `${name}b`]) must(inside("ip", "link", "set", device, "up"));
    await startEngine();
    for (const key of ["host", "user"]) must(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", at(key)]);
    mkdirSync("/run/sshd", { recursive: true });
    writeFileSync(
      at("sshd_config"),
      [
        "ListenAddress 10.99.0.2",
        `HostKey ${at("host")}`,
        `AuthorizedKeysFile ${at("user.pub")}`,
        "PermitRootLogin yes",
        "PasswordAuthentication no",
        "StrictModes no",
        "UsePAM no",
        "PidFile none",
        `SetEnv DOCKER_HOST=${there.DOCKER_HOST}`,
      ].join("\n"),
    );
    // sshd wants its whole path.
    programs.sshd = run(inside(find("sshd") as string, "-D", "-e", "-f", at("sshd_config")));
    writeFileSync(
      at("ssh_config"),
      [
        "Host vps",
        "HostName 10.99.0.2",
        `IdentityFile ${at("user")}`,
        `UserKnownHostsFile ${at("known_hosts")}`,
        "StrictHostKeyChecking accept-new",
      ].join("\n"),
    );
    mkdirSync(bin);
    writeFileSync(join(bin, "ssh"), `#!/bin/sh\nexec ${find("ssh")} -F ${at("ssh_config")} "$@"\n`);
    chmodSync(join(bin, "ssh"), 0o755);
    await until(() => spawnSync(join(bin, "ssh"), ["root@vps", "docker", "version"]).status === 0);
  });

  afterAll(async () => {
    for (const { child, ended } of Object.values(programs)) {
      child.kill("SIGTERM");
      await ended;
    }
    spawnSync("ip", ["netns", "delete", name]);
  });

  const remote = (file: string) =>
    bench(
      file,
      "--image",
      IMAGE,
      "--endpoints",
      "/plain",
      "--docker",
      "ssh://root@vps",
      "--servers",
      "bun-hono,node-fastify",
    );

  const images = () => must(["docker", "images", "-q"], there);
  const seconds = (ms: number) => String(ms / 1e3);

  test("an engine that stops in the middle is one line, and results stay valid", async () => {
    const file = newFile();
    const program = run(remote(file), env);
    await until(() => rowsOf(file).length > 0);
    programs.dockerd?.child.kill("SIGTERM");
    const { code } = await program.ended;
    const said = program.output().trimEnd().split("\n");
    expect([code, said.at(-1)]).toEqual([1, expect.stringMatching(/(reached|failed)/)]);
    for (const row of rowsOf(file)) expect(row.BytesPerRequest).not.toBe("");
    await programs.dockerd?.ended;
    await startEngine();
    expect([...left(there), images()]).not.toContain("");
  });

  test("what it left is used, two servers are measured, and nothing stays, nor of the run before", async () => {
    const file = newFile();
    const since = Date.now();
    const { code, output } = await finish(remote(file), env);
    expect([code, output]).toEqual([0, expect.stringContaining(" slices in ")]);
    const rows = rowsOf(file);
    expect(new Set(rows.map(({ Name }) => Name))).toEqual(new Set(["bun-hono", "node-fastify"]));
    for (const { CpuUs } of rowsOf(file, "windows.csv")) expect(Number(CpuUs)).toBeGreaterThan(0);
    for (const row of rows) {
      expect(row.Target).toMatch(/^http:\/\/10\.99\.0\.2:30\d\d$/);
      expect(Number(row.CpuUsPerRequest)).toBeGreaterThan(0);
      expect(Number(row.RssBytes)).toBeGreaterThan(10e6);
    }
    expect([...left(there), images()]).toEqual(["", "", ""]);
    const period = ["--since", seconds(since), "--until", seconds(Date.now())];
    expect(must(["docker", "events", ...period, "--filter", "event=load"], there)).toBe("");
  });
}
