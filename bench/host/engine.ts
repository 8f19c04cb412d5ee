/** A Docker engine, of this machine or reached by ssh, driven through the docker command. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { UsageError } from "../../shared/errors.ts";
import { endAfter } from "./clean-up.ts";
import { lastLine, run } from "./command.ts";
import { digestOf } from "./folders.ts";
import { hasEnded, OWNER } from "./owner.ts";

/** A Docker engine, and how it runs servers. */
export interface EngineSpec {
  /** `ssh://user@host` or `unix:///path`. */
  readonly address: string;
  readonly image: string;
  /** Options of `docker run`, e.g. `--memory 512m`. */
  readonly run: readonly string[];
}

/** An engine that has the image and the database. */
export interface Engine {
  readonly spec: EngineSpec;
  /** Host name or address of the servers that it runs. */
  readonly host: string;
  readonly facts: Readonly<Record<string, unknown>>;
  /** Options of `docker run` that mark a container as this run's, and give it the database. */
  readonly common: readonly string[];
  /** Runs the docker command. @throws UsageError with what it said. */
  docker(...args: string[]): Promise<string>;
  get<T>(path: string): Promise<T>;
  /** Removes everything that this run created at the engine. */
  close(): Promise<void>;
}

/** Marks containers and volumes; its value is the owner. */
const LABEL = "http-benchmark";
/** Marks the volume of a run that had to bring its image; its value is the image's name. */
const BROUGHT = `${LABEL}.image`;
const DATABASE = "data.db";

/** @returns the address of the engine that the docker command uses if none is named. */
export function addressOf(given: string | true, signal: AbortSignal): Promise<string> | string {
  if (given === true) return docker(null, ["context", "inspect", "-f", "{{.Endpoints.docker.Host}}"], signal);
  if (/^(ssh|unix):\/\/./.test(given)) return given;
  throw new UsageError(`--docker is "${given}": write ssh://user@host, or nothing for this machine's engine`);
}

/** @throws UsageError if the engine does not answer, or has no image and none can be sent. */
export async function openEngine(spec: EngineSpec, signal: AbortSignal): Promise<Engine> {
  const { address, image } = spec;
  const ask = (...args: string[]) => docker(address, args, signal);
  const server = "{{.Server.Version}} {{.Server.Os}}/{{.Server.Arch}} {{.Server.KernelVersion}}";
  const version = await ask("version", "-f", server);
  const remote = address.startsWith("ssh://");
  const [there, here] = await imageIds(image, address, signal);
  await removeLeftovers(ask, here === null || here === there ? image : undefined);
  const bridge = remote ? await openBridge(address) : null;
  const askLater = (...args: string[]) => docker(address, args, new AbortController().signal); // also after Ctrl-C
  const close = async () => {
    bridge?.close();
    // Retries, because the engine may be busy with the last command. If it does not answer, the next run removes the rest.
    for (let tries = 3; tries > 0; tries--) {
      try {
        await remove(askLater, OWNER);
        return await removeLeftovers(askLater);
      } catch {
        await sleep(500);
      }
    }
  };
  try {
    const volume = await bringImage(image, address, signal);
    return {
      spec,
      host: remote ? await sshHost(address, signal) : "127.0.0.1",
      facts: { address, version, image: await ask("image", "inspect", "-f", "{{.Id}}", image) },
      common: await bringData(volume, image, address, signal),
      docker: ask,
      get: async (path) => {
        const unix = bridge?.path ?? address.slice("unix://".length);
        const response = await fetch(`http://docker${path}`, { unix, signal }).catch((error) => {
          signal.throwIfAborted();
          throw new UsageError(`the Docker engine at ${address} cannot be reached (${error.code ?? error.message})`);
        });
        if (response.ok) return response.json() as never;
        throw new UsageError(`the Docker engine at ${address} answers ${path} with status ${response.status}`);
      },
      close,
    };
  } catch (error) {
    return endAfter(error, close());
  }
}

type Docker = (...args: string[]) => Promise<string>;

/** Removes what killed runs of this user left at the engine, except the image `spared`, which one of them had brought. */
async function removeLeftovers(docker: Docker, spared?: string): Promise<void> {
  const owner = ["--filter", `label=${LABEL}`, "--format", `{{.Label "${LABEL}"}}`];
  const owners = [await docker("ps", "-a", ...owner), await docker("volume", "ls", ...owner)].join("\n").split("\n");
  for (const owner of new Set(owners)) if (hasEnded(owner)) await remove(docker, owner, spared);
}

async function remove(docker: Docker, owner: string, spared?: string): Promise<void> {
  const mine = ["--filter", `label=${LABEL}=${owner}`, "--format"];
  const lines = (text: string) => text.split("\n").filter((line) => line !== "");
  const containers = lines(await docker("ps", "-a", ...mine, "{{.ID}}"));
  if (containers.length > 0) await docker("rm", "-f", "-v", ...containers);
  for (const line of lines(await docker("volume", "ls", ...mine, `{{.Name}} {{.Label "${BROUGHT}"}}`))) {
    const [volume = "", image] = line.split(" ");
    if (image && image === spared) continue; // keeps the volume, because its label tells a later run to remove the image
    if (image) await docker("rmi", image).catch(() => {}); // it was never sent, or others use it
    await docker("volume", "rm", volume);
  }
}

/** @returns the id of the image at the engine, and at the engine of this machine; null if an engine does not have it. */
async function imageIds(image: string, address: string, signal: AbortSignal) {
  const idAt = (host: string | null) =>
    docker(host, ["image", "inspect", "-f", "{{.Id}}", image], signal).catch(() => {
      signal.throwIfAborted();
      return null;
    });
  const there = await idAt(address);
  return [there, address.startsWith("ssh://") ? await idAt(null) : there] as const;
}

/**
 * Sends the image to a remote engine that does not have the same one, or lets it pull the image.
 * @returns a volume for this run's data; its labels also tell whether the engine had no image of this name before.
 */
async function bringImage(image: string, address: string, signal: AbortSignal): Promise<string> {
  const [there, here] = await imageIds(image, address, signal);
  const isOfRegistry = image.includes("/");
  if (here === null && there === null && !isOfRegistry) {
    throw new UsageError(`there is no image "${image}": make it by docker build -t ${image} . or name one by --image`);
  }
  const labels = [`${LABEL}=${OWNER}`, ...(there === null ? [`${BROUGHT}=${image}`] : [])];
  const volume = await docker(address, ["volume", "create", ...labels.flatMap((label) => ["--label", label])], signal);
  if (here === null && there === null) await docker(address, ["pull", "-q", image], signal);
  else if (here !== null && here !== there) {
    const saved = Bun.spawn(["docker", "save", image], { signal, stdio: ["ignore", "pipe", "ignore"] }).stdout;
    await docker(address, ["load", "-q"], signal, saved);
  }
  return volume;
}

/** Puts the database into the run's volume. @returns options of `docker run` for this run's servers. */
async function bringData(volume: string, image: string, address: string, signal: AbortSignal): Promise<string[]> {
  const label = ["--label", `${LABEL}=${OWNER}`];
  if (!existsSync(DATABASE)) return label;
  const inside = (command: string, input?: Blob) => {
    const options = [...label, "-v", `${volume}:/data`, "--user", "0", "--network", "none", "--entrypoint", "sh"];
    return docker(address, ["run", "--rm", "-i", ...options, image, "-c", command], signal, input);
  };
  await inside(`cat > /data/${DATABASE} && chmod a+r /data/${DATABASE}`, Bun.file(DATABASE));
  const [there] = (await inside(`sha256sum /data/${DATABASE}`)).split(" ");
  if (there !== (await digestOf(DATABASE)))
    throw new UsageError(`${DATABASE} did not reach ${address} whole: try again`);
  return [...label, "-v", `${volume}:/data:ro`, "-e", `DB_FILE=/data/${DATABASE}`];
}

/** @returns the name or address behind `ssh://user@alias`, as the user's ssh knows it. */
async function sshHost(address: string, signal: AbortSignal): Promise<string> {
  const { hostname, username } = new URL(address);
  const { stdout } = await run(["ssh", "-G", ...(username ? ["-l", username] : []), hostname], { signal });
  return /^hostname (.*)$/m.exec(stdout)?.[1] ?? hostname;
}

/**
 * A Unix socket that leads to a remote engine, over the docker command's own transport. Reading the container's counters by
 * `docker exec` would be shorter, but each exec uses about 25 ms of the container's own CPU time (runc), as long as a window.
 */
async function openBridge(address: string): Promise<{ path: string; close(): void }> {
  const folder = mkdtempSync(join(tmpdir(), `${LABEL}-`));
  const path = join(folder, "docker.sock");
  const open = new Set<Socket>();
  const server = createServer((socket) => {
    open.add(socket);
    const env = { ...process.env, DOCKER_HOST: address };
    const dial = spawn("docker", ["system", "dial-stdio"], { env, stdio: ["pipe", "pipe", "ignore"] });
    dial.on("error", () => socket.destroy());
    dial.stdin.on("error", () => socket.destroy());
    socket.on("error", () => socket.destroy());
    socket.on("close", () => {
      open.delete(socket);
      dial.kill();
    });
    socket.pipe(dial.stdin);
    dial.stdout.pipe(socket);
  });
  await once(server.listen(path), "listening");
  const close = () => {
    server.close();
    for (const socket of open) socket.destroy();
    rmSync(folder, { recursive: true });
  };
  return { path, close };
}

/** @returns what docker printed. @throws UsageError with the last line of its error message, without the hint to --help. */
async function docker(
  host: string | null,
  args: readonly string[],
  signal: AbortSignal,
  input?: Blob | ReadableStream,
): Promise<string> {
  const { code, stdout, stderr } = await run(["docker", ...args], {
    signal,
    stdin: input,
    env: host === null ? {} : { DOCKER_HOST: host },
  });
  if (code === 0) return stdout.trim();
  const where = host === null ? "" : ` at ${host}`;
  const complaint = lastLine(stderr.replace(/^.* --help.*$/gm, ""));
  throw new UsageError(`docker ${args[0]}${where} failed: ${complaint || `exit ${code}`}`);
}
