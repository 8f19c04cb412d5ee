/** What runs now, and what is to be said; how that is shown is not a matter of the run. */
export interface Progress {
  now(what: string): void;
  /** @param seconds of the run that are behind us */
  at(seconds: number): void;
  /** Prints a line that stays. */
  say(line: string): void;
  /** Shows a text in place of the last one. */
  redraw(text: string): void;
  stop(): void;
}
