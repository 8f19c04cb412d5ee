import { expect, test } from "bun:test";
import { needPgbouncer } from "../../bench/stores/pooler.ts";

test.each([
  [null, "there is no pgbouncer on PATH: install version 1.24 or later, or leave +pooler out"],
  ["1.18.0", "pgbouncer 1.18.0 breaks prepared statements"],
  ["1.23.1", "pgbouncer 1.23.1 breaks prepared statements"],
  ["1.24.1", undefined],
  ["2.0.0", undefined],
])("pgbouncer %p", (version, problem) => {
  const needed = expect(() => needPgbouncer(version));
  if (problem) needed.toThrow(problem);
  else needed.not.toThrow();
});
