/** Load generators that run only during windows: between windows they are paused (SIGSTOP), with open connections. */
import { createServer } from "node:net";
import { setImmediate as yieldOnce } from "node:timers/promises";
import { UsageError } from "../../shared/errors.ts";
import { type CommandOptions, lastLine, start } from "../host/command.ts";
import { isStopped, writtenBy } from "../host/proc.ts";
import { hiddenText } from "./secrets.ts";

export interface Pausable {
  readonly pid: number;
  go(): void;
  /** Resolves when none of its threads runs any more. */
  pause(): Promise<void>;
  /** Bytes that it has sent so far; infinite once it has ended. */
  sent(): number;
  /** Ends it, also if it is paused. @returns what it printed. @throws UsageError with the last line it logged if it failed. */
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
  const end = async () => {
    send("SIGINT"); // before SIGCONT, so that it sends nothing more
    send("SIGCONT");
    const { stdout, stderr } = await ended;
    if (stdout === "") throw new UsageError(`${hiddenText(url)} could not be loaded: ${lastLine(stderr)}`);
    return stdout;
  };
  return {
    pid: child.pid,
    go: () => send("SIGCONT"),
    async pause() {
      send("SIGSTOP");
      while (!hasEnded && !isStopped(child.pid)) await yieldOnce();
    },
    sent: () => (hasEnded ? Number.POSITIVE_INFINITY : writtenBy(child.pid)),
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
  const seen = new Map<number, number>();
  let sockets = 0;
  const server = createServer((socket) => {
    const one = ++sockets;
    socket.on("error", () => {});
    socket.on("data", (data) => {
      seen.set(one, (seen.get(one) ?? 0) + data.length);
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
  const sizes = [...seen.values()].filter((bytes) => bytes > 0);
  return Math.min(...sizes) - own.length + host.length;
}
