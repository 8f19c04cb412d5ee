/**
 * The contract of processes and HTTP. Adapters and drivers do not depend on each other, so each adapter is tested with
 * two workers and its runtime's default driver, and each driver with the raw servers and one worker.
 */
import { describe } from "bun:test";
import { DRIVERS, type Runtime } from "../../shared/drivers/drivers.ts";
import { SERVERS } from "../harness.ts";
import { EXACT } from "../strictness.ts";
import { contractSuite } from "./contract-suite.ts";

const CELLS = SERVERS.flatMap((server) => {
  const [runtime = "", framework = ""] = server.split("-");
  const drivers = DRIVERS[runtime as Runtime];
  const cell = { server, runtime, framework, strictness: EXACT, workloads: ["read", "content"] };
  return [
    { ...cell, driver: drivers[0] as string, workers: 2 },
    ...(framework === "raw" ? drivers.map((driver) => ({ ...cell, driver: driver as string, workers: 1 })) : []),
  ];
});
for (const cell of CELLS) {
  describe(`${cell.server}@${cell.driver}*${cell.workers}`, () => contractSuite(cell));
}
