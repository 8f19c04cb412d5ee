/** /tx of the servers in other languages. */
import { describeIf, needs } from "../harness.ts";
import { type Cell, tpcbSuite } from "../servers/tpcb-suite.ts";
import { VALUES } from "../strictness.ts";
import { firstOfEach, ownOf, stacksOf } from "./build.ts";

describeIf(...needs("postgres"), "/tx", () => {
  const cells = stacksOf("tpcb").flatMap(({ server, runtime, clients }) =>
    ownOf(runtime, clients).map((client): Cell & { runtime: string } => ({
      SERVER: server,
      POSTGRES_CLIENT: client,
      runtime,
    })),
  );
  // Frameworks of one language share the code that talks to Postgres.
  const first = firstOfEach(cells, ({ runtime, POSTGRES_CLIENT }) => `${runtime} ${POSTGRES_CLIENT}`);
  const others = firstOfEach(cells, ({ SERVER }) => SERVER).filter((cell) => !first.includes(cell));
  const plain = ({ SERVER, POSTGRES_CLIENT }: Cell): Cell => ({ SERVER, POSTGRES_CLIENT });
  const alone = first.map(plain);
  const ways = [...alone, ...alone.map((cell) => ({ ...cell, POSTGRES_TX: "function", POSTGRES_PREPARE: "false" }))];
  if (alone.length > 0) tpcbSuite({ alone, ways, others: others.map(plain) }, VALUES);
});
