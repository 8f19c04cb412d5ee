import type { Faker } from "@faker-js/faker";

/** Most rows per request. */
export const MAX_SIZE = 500;

export interface Column {
  readonly name: string;
  readonly type: "TEXT" | "INTEGER" | "REAL";
  make(faker: Faker): string | number;
}

/** Dates count back from this time, not from the current time, because the same seed must give the same bytes. */
const NOW = "2025-01-01T00:00:00Z";

export const text = (name: string, make: Column["make"]): Column => ({ name, type: "TEXT", make });
const integer = (name: string, min: number, max: number): Column => ({
  name,
  type: "INTEGER",
  make: (faker) => faker.number.int({ min, max }),
});
const decimal = (name: string, min: number, max: number): Column => ({
  name,
  type: "REAL",
  make: (faker) => faker.number.float({ min, max, fractionDigits: 2 }),
});
const oneOf = (name: string, ...values: string[]) => text(name, (faker) => faker.helpers.arrayElement(values));
const someOf = (name: string, count: number, ...values: string[]) =>
  text(name, (faker) => faker.helpers.arrayElements(values, count).join(", "));
const pattern = (name: string, symbols: string) => text(name, (faker) => faker.helpers.replaceSymbols(symbols));

const contact = [
  text("first_name", (faker) => faker.person.firstName()),
  text("last_name", (faker) => faker.person.lastName()),
  text("email", (faker) => faker.internet.email()),
  text("phone", (faker) => faker.phone.number()),
];
const createdAt = text("created_at", (faker) =>
  faker.date.past({ years: 5, refDate: NOW }).toISOString().slice(0, 19).replace("T", " "),
);

/** Table -> its columns besides `id`. createdb.ts, the OpenAPI document and the tests read it. */
export const PEOPLE = {
  person5: [...contact, createdAt],
  person30: [
    ...contact,
    text("date_of_birth", (faker) => faker.date.birthdate({ refDate: NOW }).toISOString().slice(0, 10)),
    oneOf("gender", "Male", "Female", "Other"),
    text("address", (faker) => faker.location.streetAddress()),
    text("city", (faker) => faker.location.city()),
    text("state", (faker) => faker.location.state()),
    text("zip_code", (faker) => faker.location.zipCode()),
    text("country", (faker) => faker.location.country()),
    text("occupation", (faker) => faker.person.jobTitle()),
    text("company", (faker) => faker.company.name()),
    decimal("salary", 30_000, 200_000),
    oneOf("education_level", "High School", "Bachelor", "Master", "PhD"),
    oneOf("marital_status", "Single", "Married", "Divorced", "Widowed"),
    integer("number_of_children", 0, 5),
    decimal("height_cm", 150, 200),
    decimal("weight_kg", 45, 120),
    oneOf("blood_type", "A+", "A-", "B+", "B-", "AB+", "AB-", "O+", "O-"),
    oneOf("eye_color", "Blue", "Brown", "Green", "Hazel"),
    oneOf("hair_color", "Black", "Brown", "Blonde", "Red", "Gray"),
    oneOf("favorite_color", "Red", "Blue", "Green", "Yellow", "Purple", "Orange"),
    someOf("hobbies", 3, "Reading", "Sports", "Music", "Cooking", "Travel", "Photography"),
    someOf("languages", 2, "English", "Spanish", "French", "German", "Chinese", "Japanese"),
    pattern("social_security_number", "###-##-####"),
    pattern("passport_number", "##??####"),
    pattern("driver_license", "??###???"),
    text("emergency_contact", (faker) => faker.phone.number()),
    createdAt,
  ],
} satisfies Record<string, readonly Column[]>;

export type Table = keyof typeof PEOPLE;
