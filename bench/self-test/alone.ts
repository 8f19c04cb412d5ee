/** Compares turns with long windows of each server alone, in the same minutes: do short windows show what a server costs alone? */
import { type Interval, meanInterval } from "../judge/statistics.ts";
import { costOf, layoutOf, rateOf } from "../judge/turns.ts";
import type { Window } from "../keep/slices.ts";
import type { Scenario } from "../plan/plan.ts";
import { randomOf } from "../plan/random.ts";
import { type Player, warmAll } from "../run/players.ts";
import { withTargets } from "../run/restart.ts";
import type { Session } from "../run/session.ts";

const LOOK_MS = 2_000;
const ROUNDS = 10;

/** Turns ÷ alone for one server, both relative to the mean of all; the intervals are over the looks. */
export interface AloneFinding {
  readonly server: string;
  readonly endpoint: string;
  readonly cost: Interval;
  readonly rate: Interval;
  readonly looks: number;
}

/** @param looks per restart; each is ten rounds of turns, then two seconds of each server alone, in random order */
export async function compareWithAlone(session: Session, restarts: number, looks: number): Promise<AloneFinding[]> {
  const { plan } = session.manifest;
  const ways: [Window[], Window[]] = [[], []];
  for (let restart = 1; restart <= restarts; restart++)
    await withTargets(session, plan.targets, async (targets) => {
      await warmAll(session, targets);
      for (const scenario of plan.scenarios) {
        const players: Player[] = [];
        try {
          for (const target of targets) players.push(await session.player(session, { restart, scenario, target }));
          for (let look = 0; look < looks; look++)
            await playBothWays(ways, players, { scenario, restart: restart * looks + look });
        } finally {
          await Promise.all(players.map((player) => player.end().catch(() => {})));
        }
      }
    });
  return plan.scenarios.flatMap(({ name: endpoint }) =>
    plan.targets.map(({ name: server }) => {
      const [cost, rate] = [costOf, rateOf].map((value) => ratioOf(ways, { endpoint, server, value }));
      return { server, endpoint, cost, rate, looks: restarts * looks } as AloneFinding;
    }),
  );
}

/** Makes one look; `restart` is the number of the look, because each look is a repetition. */
async function playBothWays(
  [turns, alone]: [Window[], Window[]],
  players: readonly Player[],
  { scenario, restart }: { readonly scenario: Scenario; readonly restart: number },
): Promise<void> {
  const order = randomOf(restart, 1);
  const play = async (to: Window[], player: Player, round: number, windowMs?: number) => {
    const { work: requests, ...played } = await player.play(windowMs);
    to.push({ restart, scenario: scenario.name, name: player.target.name, round, counts: 1, ...played, requests });
  };
  for (let round = 1; round <= ROUNDS; round++)
    for (const player of order.shuffle(players)) await play(turns, player, round);
  for (const player of order.shuffle(players)) await play(alone, player, 1, LOOK_MS);
}

/** Turns ÷ alone. */
function ratioOf(
  ways: readonly (readonly Window[])[],
  at: { readonly endpoint: string; readonly server: string; readonly value: (window: Window) => number | null },
): Interval {
  const [turns = [], alone = []] = ways.map(
    (windows) =>
      layoutOf(
        windows.filter(({ scenario }) => scenario === at.endpoint),
        at.value,
      ).measured.find(({ name }) => name === at.server)?.perRestart,
  );
  return meanInterval(turns.map((ln, i) => Math.exp(ln - (alone[i] as number))));
}
