/** Load generators that run only during windows: between windows they are paused (SIGSTOP), with open connections. */
import { createServer } from "node:net";
import { setImmediate as yieldOnce } from "node:timers/promises";
import { UsageError } from "../../shared/errors.ts";
import { type CommandOptions, type Ended, lastLine, start } from "../host/command.ts";
import { isAlive, isStopped, writtenBy } from "../host/proc.ts";
import { hiddenText } from "./secrets.ts";

/** A generator has ended although the run did not end it. */
export class GeneratorEnded extends UsageError {}

export interface Pausable {
  readonly pid: number;
  go(): void;
  /** Resolves when none of its threads runs any more. */
  pause(): Promise<void>;
  /** @returns bytes that it has sent so far. @throws GeneratorEnded with the reason once it has ended */
  sent(): Promise<number>;
  /** Ends it, also if it is paused. @returns what it printed. @throws GeneratorEnded with the reason if it printed nothing */
  end(): Promise<string>;
}

/** Starts a generator that prints its results when it gets SIGINT. The caller must end it. */
export function startPausable(command: readonly string[], url: string, options: CommandOptions): Pausable {
  const child = start(command, options);
  let hasEnded = false;
  const ended = child.ended.finally(() => {
    hasEnded = true;
  });
  ended.catch(() => {}); // `end` reports it
  const send = (signal: NodeJS.Signals) => void (hasEnded || child.kill(signal));
  let output: Promise<string> | undefined;
  const whyEnded = ({ code, killedBy, stderr }: Ended) => {
    const why = killedBy
      ? `its generator was ended by ${killedBy}`
      : lastLine(stderr) || `its generator ended with exit code ${code}`;
    return new GeneratorEnded(`${hiddenText(url)} could not be loaded: ${why}`);
  };
  const end = async () => {
    send("SIGINT"); // before SIGCONT, so that it sends nothing more
    send("SIGCONT");
    const all = await ended;
    if (all.stdout === "") throw whyEnded(all);
    return all.stdout;
  };
  return {
    pid: child.pid,
    go: () => send("SIGCONT"),
    async pause() {
      send("SIGSTOP");
      while (!hasEnded && !isStopped(child.pid)) await yieldOnce();
    },
    async sent() {
      const bytes = writtenBy(child.pid);
      if (!hasEnded && isAlive(child.pid)) return bytes;
      throw whyEnded(await ended);
    },
    end() {
      output ??= end();
      return output;
    },
  };
}

/** A complete answer for a generator that sends only one request. */
const ANSWER = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";

/**
 * Measures the size of a generator's requests, which are all alike: one is sent to a listener of this process.
 * @param send sends one request to a URL
 * @param host host of the requests whose size is wanted, e.g. 127.0.0.1:3000
 * @returns bytes
 */
export async function sizeOfRequest(send: (origin: string) => Promise<unknown>, host: string): Promise<number> {
  const seen = new Map<number, string>();
  let sockets = 0;
  const server = createServer((socket) => {
    const one = ++sockets;
    socket.on("error", () => {});
    socket.on("data", (data) => {
      seen.set(one, (seen.get(one) ?? "") + data.toString("latin1"));
      // Waits for the body, because an answer right after the head would cut it off.
      setTimeout(() => socket.end(ANSWER), 20);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { port: number };
  const own = `127.0.0.1:${port}`;
  try {
    await send(`http://${own}`);
  } finally {
    server.close();
  }
  const sizes = [...seen.values()].map((sent) => {
    // The host is the listener's, unless a header of the user fixes it.
    const isOwn = /^host: *(.*?) *$/im.exec(sent)?.[1] === own;
    return sent.length + (isOwn ? host.length - own.length : 0);
  });
  return Math.min(...sizes);
}
