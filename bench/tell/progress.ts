import { clearScreenDown, moveCursor } from "node:readline";
import { SingleBar } from "cli-progress";
import type { Progress } from "../run/session.ts";
import { percent } from "./format.ts";

/** A bar on a terminal, below the last table; in a pipe a line per step. @param seconds expected duration */
export const showProgress = (seconds: number): Progress =>
  (process.stderr.isTTY ? onTerminal : inPipe)(timer(Math.max(1, seconds)));

/** Time spent and left of `total` seconds. */
function timer(total: number) {
  let behind = 0;
  let since = performance.now();
  const spent = () => Math.min(total, behind + (performance.now() - since) / 1e3);
  const left = () =>
    total - spent() < 90 ? `${Math.ceil(total - spent())} s` : `${Math.ceil((total - spent()) / 60)} min`;
  const at = (seconds: number) => {
    behind = seconds;
    since = performance.now();
  };
  return { total, spent, left, at };
}

function inPipe({ total, spent, at, left }: ReturnType<typeof timer>): Progress {
  let shown = "starting";
  return {
    now(what) {
      const [step = ""] = what.split(":");
      if (step !== shown) console.error(`${percent(spent() / total)} done, ${left()} left: ${what}`);
      shown = step;
    },
    at,
    say: (line) => console.log(line),
    redraw: (text) => console.error(text),
    stop: () => {},
  };
}

function onTerminal({ total, spent, at, left }: ReturnType<typeof timer>): Progress {
  const format = "{bar} {percentage} % | {left} left | {what}";
  const bar = new SingleBar({ format, barsize: 20, clearOnComplete: true, hideCursor: null });
  let what = "starting";
  let drawn = 0;
  const begin = () => bar.start(total, spent(), { left: left(), what });
  const show = () => bar.update(spent(), { left: left(), what });
  const above = (write: () => void, lines: number) => {
    bar.stop();
    write();
    drawn = lines;
    begin();
  };
  begin();
  return {
    now(next) {
      what = next;
      show();
    },
    at(seconds) {
      at(seconds);
      show();
    },
    say: (line) => above(() => console.log(line), 0),
    redraw: (text) =>
      above(() => {
        if (drawn > 0) {
          moveCursor(process.stderr, 0, -drawn);
          clearScreenDown(process.stderr);
        }
        process.stderr.write(`${text}\n`);
      }, text.split("\n").length),
    stop: () => bar.stop(),
  };
}
