/** Runs the suites of the ten servers on the servers in other languages; compares values, not bytes. */
import { describe, test } from "bun:test";
import { folderOf } from "../../bench/ask/targets.ts";
import { expectRefused, MISTAKES, type Mistake, OF_LISTENING } from "../servers/config-suite.ts";
import { contractSuite } from "../servers/contract-suite.ts";
import { VALUES } from "../strictness.ts";
import { firstOfEach, type Named, stacksOf } from "./build.ts";

/** One wrong value per variable, and per database. */
const mistakes = firstOfEach(MISTAKES, ([env]) => env.DB_FILE ?? (Object.keys(env)[0] as string));

/** The error names the value, in any words. */
const naming = (env: Record<string, string>): Mistake => [env, new RegExp(RegExp.escape(Object.values(env)[0] ?? ""))];

function mistakesOf({ processes, clients }: Named): Mistake[] {
  const DATABASE_URL = "postgres://me:secret@127.0.0.1:1/my";
  return [
    ...mistakes.map(([env]) => naming(env)),
    naming({ SQLITE_DRIVER: "sqlite9" }),
    ...(processes ? [] : [naming({ WORKERS: "2" })]),
    ...(clients.length === 0 ? [] : [naming({ STORE: "redis" })]),
    ...(clients.length === 0 ? [] : [naming({ POSTGRES_CLIENT: "mysql", STORE: "postgres", DATABASE_URL })]),
    ...clients.map(
      (POSTGRES_CLIENT): Mistake => [
        { STORE: "postgres", POSTGRES_CLIENT, DATABASE_URL },
        /^(?!.*secret).*127\.0\.0\.1:1/,
      ],
    ),
  ];
}

/** Tests the servers of some runtimes, so that two files can run at the same time. */
export function contractOf(isMeant: (runtime: string) => boolean): void {
  const stacks = stacksOf("read", isMeant);
  // Servers of one program share the code that reads their configuration; servers of one folder share their drivers.
  const readers = firstOfEach(stacks, ({ command }) => command.match(/stacks\/\S+/g)?.at(-1) as string);
  const drivers = firstOfEach(
    stacks.flatMap((stack) => stack.drivers.map((driver) => ({ stack, driver }))),
    ({ stack, driver }) => `${folderOf(stack)} ${driver}`,
  );

  for (const stack of stacks) {
    const { server, runtime, framework, processes, workloads } = stack;
    describe(server, () => {
      for (const [i, driver] of stack.drivers.entries()) {
        if (i > 0 && !drivers.some((one) => one.stack === stack && one.driver === driver)) continue;
        const workers = processes && i === 0 ? 2 : 1;
        describe(`${driver}*${workers}`, () =>
          contractSuite({ server, runtime, framework, driver, workers, strictness: VALUES, workloads }));
      }

      test("a mistake prints one line", () =>
        expectRefused(server, [
          ...OF_LISTENING.map(([env]) => naming(env)),
          ...(readers.includes(stack) ? mistakesOf(stack) : []),
        ]));
    });
  }
}
