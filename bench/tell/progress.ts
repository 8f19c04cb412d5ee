import { clearScreenDown, moveCursor } from "node:readline";
import { SingleBar } from "cli-progress";
import type { Progress } from "../run/progress.ts";
import { percent } from "./format.ts";

/** A bar on a terminal, with the last table above it; a line per step elsewhere. @param seconds that it will take */
export function showProgress(seconds: number): Progress {
  const total = Math.max(1, seconds);
  let behind = 0;
  let since = performance.now();
  let what = "starting";
  const spent = () => Math.min(total, behind + (performance.now() - since) / 1e3);
  const at = (seconds: number) => {
    behind = seconds;
    since = performance.now();
  };
  const left = () => {
    const seconds = total - spent();
    return seconds < 90 ? `${Math.ceil(seconds)} s` : `${Math.ceil(seconds / 60)} min`;
  };
  return process.stderr.isTTY ? onTerminal() : inPipe();

  function inPipe(): Progress {
    const step = () => what.split(":")[0];
    return {
      now(next) {
        const before = step();
        what = next;
        if (step() !== before) console.error(`${percent(spent() / total)} done, ${left()} left: ${what}`);
      },
      at,
      say: (line) => console.log(line),
      redraw: (text) => console.error(text),
      stop: () => {},
    };
  }

  function onTerminal(): Progress {
    const bar = new SingleBar({
      format: "{bar} {percentage} % | {left} left | {what}",
      barsize: 20,
      clearOnComplete: true,
      hideCursor: null,
    });
    let drawn = 0;
    const show = () => bar.update(spent(), { left: left(), what });
    const begin = () => bar.start(total, spent(), { left: left(), what });
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
      say(line) {
        bar.stop();
        console.log(line);
        drawn = 0;
        begin();
      },
      redraw(text) {
        bar.stop();
        if (drawn > 0) {
          moveCursor(process.stderr, 0, -drawn);
          clearScreenDown(process.stderr);
        }
        process.stderr.write(`${text}\n`);
        drawn = text.split("\n").length;
        begin();
      },
      stop: () => bar.stop(),
    };
  }
}
