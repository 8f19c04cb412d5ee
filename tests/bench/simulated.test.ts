/** Whole measurements, from the plan to what is said, in simulated time: what noise does to them is known. */
import { beforeEach, expect, test } from "bun:test";
import { generateMersenne53Randomizer } from "@faker-js/faker";
import jStat from "jstat";
import { type LocalSpec, parseTarget, SERVERS } from "../../bench/ask/targets.ts";
import { median } from "../../bench/judge/statistics.ts";
import { makePlan, type Plan } from "../../bench/plan/plan.ts";
import { GATE, GATE_SECONDS, PAIR, PAIR_ENDPOINTS } from "../../bench/plan/presets.ts";
import { measureGate } from "../../bench/run/gate.ts";
import { compareUntilDecided } from "../../bench/run/until-decided.ts";
import { warmEndpoint, warmRestarted, warmthOf } from "../../bench/run/warmup.ts";
import { SCHEDULES } from "../../bench/self-test/scheduled.ts";
import { measureSchedules, scheduledPlan } from "../../bench/self-test/schedules.ts";
import { HANDICAP, selfTest } from "../../bench/self-test/self-test.ts";
import { scheduleLine, selfTestTable } from "../../bench/tell/lines.ts";
import { resultsIn, scratch } from "../harness.ts";
import { type Cost, simulate } from "../simulation.ts";

const newFile = resultsIn(scratch());
const random = generateMersenne53Randomizer();
beforeEach(() => {
  random.seed(1);
  jStat.setRandom(() => random.next());
});

const OPTIONS = { urls: [], names: [], servers: [], connections: 100, preset: "quick", seed: 1 } as const;
const pairPlan = (endpoints: readonly string[]) => ({
  ...makePlan({ ...OPTIONS, endpoints }, SERVERS),
  targets: [],
  amount: PAIR,
});

const pair = (a: string, b: string) => [parseTarget(a, SERVERS), parseTarget(b, SERVERS)] as [LocalSpec, LocalSpec];

/** As on a machine whose host takes its cores away now and then. */
const NOISY = { restart: 0.012, slice: 0.03, host: 0.1 };

test("self-test in simulated time: duets see 5 % more work and no difference where there is none, others do not", async () => {
  const cost: Cost = ({ env }, endpoint) => {
    const more: Record<string, number> = JSON.parse(env.HANDICAP ?? "{}");
    return 50 + (more[endpoint.replace(/\/\d+$/, "/:size")] ?? 0) * 2e-3;
  };
  const session = await simulate(pairPlan(PAIR_ENDPOINTS), newFile(), cost, NOISY);
  const findings = await selfTest(session, SERVERS, 90 * PAIR_ENDPOINTS.length, true, () => {});
  console.log(selfTestTable(findings));
  const said = (way: string, handicap: number) =>
    findings
      .filter((finding) => finding.way.startsWith(way) && finding.handicap === handicap)
      .map(({ outcome }) => outcome);
  const times = (outcomes: readonly string[], one: string) => outcomes.filter((outcome) => outcome === one).length;
  expect(said("duets", 0)).toHaveLength(20);
  expect(times(said("duets", 0), "same")).toBeGreaterThanOrEqual(18);
  expect(times(said("duets", HANDICAP), "slower")).toBeGreaterThanOrEqual(18);
  expect(times(said("one", 0), "same")).toBeLessThan(10);
  expect(times(said("in turn", HANDICAP), "slower")).toBeLessThan(10);
});

test("servers of known schedule come out within 3 % of the truth, or as warming", async () => {
  const cost: Cost = ({ name }, _, n) => 30 * (SCHEDULES[name]?.factor(n) ?? 1);
  const session = await simulate(scheduledPlan({ connections: 100 }), newFile(), cost, { ...NOISY, restart: 0.004 });
  const findings = await measureSchedules(session);
  console.log(findings.map(scheduleLine).join("\n"));
  expect(findings).toHaveLength(4);
  expect(findings.filter(({ isRight }) => !isRight)).toEqual([]);
  expect(findings.slice(0, 3).map(({ warming }) => warming)).toEqual([null, null, null]);
});

test("a server that rests is asked meanwhile, and one that dropped compiled code is loaded until it has it again", async () => {
  const plan = makePlan({ ...OPTIONS, preset: "standard", endpoints: ["/plain"], servers: ["bun-raw"] }, SERVERS);
  let [answered, coldUntil] = [0, 20_000];
  const cost: Cost = ({ name }, _, n) => {
    if (name !== "bun-raw") return 20;
    answered = n;
    return n < coldUntil ? 60 : 20;
  };
  const session = await simulate(plan, newFile(), cost, { restart: 0, slice: 0.02, host: 0 });
  const target = await session.start(parseTarget("bun-raw", SERVERS), undefined, session.signal);
  const turn = async () => {
    await warmEndpoint(session, [target], "/plain");
    return Math.round(warmthOf(session, target.name, "/plain").windows.at(-1)?.costUs ?? 0);
  };
  await warmRestarted(session, [target], ["/plain"]);
  expect(await turn()).toBeWithin(18, 23);
  coldUntil = answered + 5_000; // flat for three windows
  expect(await turn()).toBeWithin(18, 23);
  const { length } = session.warmth[target.name]?.["/plain"]?.windows ?? [];
  const before = answered;
  const younger = await session.start(parseTarget("node-raw", SERVERS), undefined, session.signal);
  await warmRestarted(session, [younger], ["/plain"], target);
  expect(answered).toBeGreaterThan(before); // asked while the younger got warm,
  expect(session.warmth[target.name]?.["/plain"]?.windows).toHaveLength(length); // and not kept
});

test("a server that still gets cheaper when its requests are answered is loaded until it does not, where there are blocks", async () => {
  // Until 200,000 requests it gets cheaper by a tenth with every 10,000.
  const cost: Cost = (_, __, n) => 20 * 0.9 ** Math.min(0, (n - 200_000) / 10_000);
  const lastCost = async (plan: Plan) => {
    const session = await simulate(plan, newFile(), cost, { restart: 0, slice: 0.02, host: 0 });
    const target = await session.start(parseTarget("node-raw", SERVERS), undefined, session.signal);
    await warmRestarted(session, [target], ["/plain"]);
    return warmthOf(session, target.name, "/plain").windows.at(-1)?.costUs;
  };
  const plan = makePlan({ ...OPTIONS, preset: "standard", endpoints: ["/plain"], servers: ["node-raw"] }, SERVERS);
  expect(await lastCost(plan)).toBeWithin(18, 22);
  expect(await lastCost({ ...plan, amount: { ...plan.amount, blocks: 0 } })).toBeGreaterThan(40);
});

test("duets end as soon as they can tell, and when the time is up", async () => {
  const cost: Cost = ({ name }) => ({ "node-express": 100, "bun-raw": 50 })[name] ?? 50.5;
  const session = await simulate(pairPlan(["/plain"]), newFile(), cost, NOISY);
  const [clear] = await compareUntilDecided(session, pair("bun-raw", "node-express"), { limitSeconds: 90 });
  expect(clear?.state).toBe("different");
  expect(clear?.ratio.estimate).toBeWithin(0.45, 0.55);
  expect(clear?.seconds).toBeLessThan(90);
  const [close] = await compareUntilDecided(session, pair("bun-raw", "bun-hono"), { limitSeconds: 60 });
  expect(close?.state).not.toBe("different");
  expect(close?.seconds).toBeLessThan(75);
});

test("a burst in one of a restart's duets does not count", async () => {
  // Four duets of two slices each: in the last one a neighbour makes one of the two dear.
  const cost: Cost = ({ name }) => (name === "bun-hono" && session.slices.length % 8 === 6 ? 150 : 50);
  const session = await simulate(pairPlan(["/plain"]), newFile(), cost, { restart: 0.004, slice: 0.01, host: 0 });
  const [one] = await compareUntilDecided(session, pair("bun-hono", "bun-raw"), { limitSeconds: 60 });
  expect(session.slices.filter(({ cpuUsPerRequest }) => (cpuUsPerRequest as number) > 140).length).toBeGreaterThan(1);
  expect(one?.ratio.estimate).toBeWithin(0.98, 1.02);
});

test("who is compared in a gate keeps its name and its duets, whoever is started first", async () => {
  const session = await simulate({ ...pairPlan(["/"]), amount: GATE }, newFile(), () => 50, NOISY);
  await measureGate(session, pair("bun-raw", "bun-raw"), 0.02, { limitSeconds: 60 });
  const blocks = [...Map.groupBy(session.slices, ({ block }) => block).values()];
  expect(blocks.length).toBeGreaterThan(2);
  for (const ofBlock of blocks) {
    const once = new Set(ofBlock.map(({ slice, name }) => `${slice} ${name}`));
    const duets = (one: string) => [...once].filter((each) => each.endsWith(` ${one}`)).length;
    expect([duets("bun-raw"), duets("bun-raw#2"), duets("bun-raw#3")]).toEqual([4, 4, 4]);
  }
});

test("gates in simulated time: of equal commits at most one of 40 fails, of 5 % more work at most four do not", async () => {
  const endpoints = ["/", "/a", "/b"];
  const limit = 0.02;
  const exits = async (more: number) => {
    const cost: Cost = ({ name }) => (name === "bun-hono" ? 50 * (1 + more) : 50);
    const session = await simulate({ ...pairPlan(endpoints), amount: GATE }, newFile(), cost, NOISY);
    const verdicts: string[] = [];
    const seconds: number[] = [];
    for (let i = 0; i < 40; i++) {
      const limitSeconds = GATE_SECONDS * endpoints.length;
      const { outcomes, verdict } = await measureGate(session, pair("bun-hono", "bun-raw"), limit, { limitSeconds });
      verdicts.push(verdict ?? "");
      seconds.push(Math.max(...outcomes.map(({ seconds }) => seconds)));
    }
    const slower = verdicts.filter((one) => one === "slower").length;
    console.log(`${more * 100} % more work: ${slower} of 40 slower, median ${median(seconds).toFixed(0)} s`);
    return (verdict: string) => verdicts.filter((one) => one === verdict).length;
  };
  const equal = await exits(0);
  expect(equal("slower")).toBeLessThanOrEqual(1);
  const dearer = await exits(0.05);
  expect(dearer("slower")).toBeGreaterThanOrEqual(36);
  expect(dearer("not slower")).toBe(0);
});
