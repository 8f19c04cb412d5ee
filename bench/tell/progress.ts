import { SingleBar } from "cli-progress";
import { percent } from "./format.ts";

/** What runs now, how much is done and the time left: a bar on a terminal, a line per step elsewhere. */
export interface Progress {
  now(what: string): void;
  /** @param seconds of the plan's estimate that are behind us */
  done(seconds: number): void;
  /** Prints a line that stays. */
  say(line: string): void;
  stop(): void;
}

/** @param total seconds that it will take */
export function showProgress(total: number): Progress {
  const since = performance.now();
  let behind = 0;
  let what = "starting";
  const left = () => {
    const pace = behind > 0 ? (performance.now() - since) / 1e3 / behind : 1;
    const seconds = Math.max(0, total - behind) * pace;
    return seconds < 90 ? `${Math.ceil(seconds)} s` : `${Math.ceil(seconds / 60)} min`;
  };
  const step = () => what.split(":")[0];
  if (!process.stderr.isTTY) {
    return {
      now: (next) => {
        const before = step();
        what = next;
        if (step() === before) return;
        console.error(`${percent(Math.min(1, behind / total))} done, ${left()} left: ${what}`);
      },
      done: (seconds) => {
        behind += seconds;
      },
      say: (line) => console.log(line),
      stop: () => {},
    };
  }
  const bar = new SingleBar({
    format: "{bar} {percentage} % | {left} left | {what}",
    barsize: 20,
    clearOnComplete: true,
    hideCursor: null,
  });
  const show = () => bar.update(Math.min(behind, total), { left: left(), what });
  const begin = () => bar.start(total, Math.min(behind, total), { left: left(), what });
  begin();
  return {
    now: (next) => {
      what = next;
      show();
    },
    done: (seconds) => {
      behind += seconds;
      show();
    },
    say: (line) => {
      bar.stop();
      console.log(line);
      begin();
    },
    stop: () => bar.stop(),
  };
}
