import type { Randomizer } from "@faker-js/faker";
import { ulid } from "ulid";
import { type Column, text } from "../people.ts";

/** A table of the content API, and how createdb.ts makes its first rows. */
interface Sample {
  readonly name: string;
  /** Most rows that createdb.ts writes. */
  readonly most: number;
  /** Columns that depend on the number of the row. */
  readonly key?: (randomizer: Randomizer, row: number) => Record<string, string>;
  readonly columns: readonly Column[];
}

/** Time of the first content; each next one is a minute later. */
const FIRST = Date.parse("2025-01-01T00:00:00Z");

export const SAMPLES: readonly Sample[] = [
  {
    name: "content",
    most: Number.POSITIVE_INFINITY,
    key(randomizer, row) {
      const at = FIRST + row * 60_000;
      const time = new Date(at).toISOString();
      return { id: ulid(at, () => randomizer.next()), created_at: time, updated_at: time };
    },
    columns: [
      text("title", (faker) => faker.lorem.sentence()),
      text("body", (faker) => faker.lorem.paragraphs(2)),
      text("author", (faker) => faker.person.fullName()),
      text("status", (faker) => faker.helpers.arrayElement(["draft", "published", "published", "archived"])),
      text("data", (faker) =>
        JSON.stringify({ tags: faker.lorem.words(3).split(" "), views: faker.number.int(10_000) }),
      ),
    ],
  },
  {
    name: "user",
    most: 100,
    columns: [text("name", (faker) => faker.person.fullName()), text("email", (faker) => faker.internet.email())],
  },
];
