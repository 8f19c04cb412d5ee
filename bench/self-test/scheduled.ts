/**
 * A server whose cost is known request by request, for ./bench.sh self-test --schedules: it answers /plain after work that
 * lasts `WORK_US` × the factor that its schedule, the last argument, has for the number of requests so far.
 */
import { nanosecondsPerTurn, spin } from "./spin.ts";

/** Factor by number of requests. `settles` is the factor that it has for good, or on average if it has none. */
export const SCHEDULES: Readonly<Record<string, { readonly settles: number; factor(request: number): number }>> = {
  flat: { settles: 1, factor: () => 1 },
  "flat at 1.3": { settles: 1.3, factor: () => 1.3 },
  "flat at 1.2": { settles: 1.2, factor: () => 1.2 },
  "down 40 % after 30,000": { settles: 1, factor: (n) => (n < 30_000 ? 1 / 0.6 : 1) },
  "up 30 % after 60,000": { settles: 1.3, factor: (n) => (n < 60_000 ? 1 : 1.3) },
  "two plateaus": { settles: 1, factor: (n) => (n < 20_000 ? 2 : n < 50_000 ? 1.4 : 1) },
  "up 30 % after 120,000": { settles: 1.3, factor: (n) => (n < 120_000 ? 1 : 1.3) },
  "a saw-tooth that never ends": { settles: 1.2, factor: (n) => 1 + (0.4 * (n % 40_000)) / 40_000 },
};

const WORK_US = 30;

if (import.meta.main) {
  const { factor } = SCHEDULES[process.argv[2] as string] as (typeof SCHEDULES)[string];
  const turns = (WORK_US * 1e3) / nanosecondsPerTurn();
  let requests = 0;
  Bun.serve({
    hostname: process.env.HOST as string,
    port: Number(process.env.PORT),
    fetch({ url }) {
      if (!url.endsWith("/plain")) return new Response("a server with a schedule");
      spin(turns * factor(requests++));
      return Response.json({ message: "Hello, world!" });
    },
  });
}
