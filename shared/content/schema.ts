import { Ajv2020 } from "ajv/dist/2020.js";
import { HttpError } from "../errors.ts";

/** The part of a content that the client sends. */
export interface Draft {
  readonly title: string;
  readonly body: string;
  readonly author: string;
  readonly status: string;
  /** Any JSON of at most MAX_DEPTH levels. */
  readonly data: unknown;
}

/** Times are ISO 8601 in UTC. */
export interface Content extends Draft {
  readonly id: string;
  readonly created_at: string;
  readonly updated_at: string;
}

export interface NewUser {
  readonly name: string;
  readonly email: string;
}

export interface User extends NewUser {
  readonly id: number;
}

/** Most levels of `data`, because JSON.parse accepts deeper values than JSON.stringify can write. */
const MAX_DEPTH = 64;
/** Most items in a page of GET /content. */
export const MAX_LIMIT = 100;

/** No U+0000, because Postgres cannot store it; no unpaired surrogate, because UTF-8 cannot encode it. */
const text = (maxLength: number) => ({
  type: "string",
  minLength: 1,
  maxLength,
  pattern: "^[^\\u0000\\ud800-\\udfff]*$",
});
const ulid = { type: "string", pattern: "^[0-7][0-9A-HJKMNP-TV-Z]{25}$" };
const time = { type: "string", pattern: "^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{3}Z$" };
const draft = {
  title: text(200),
  body: text(50_000),
  author: text(200),
  status: { enum: ["draft", "published", "archived"], default: "draft" },
  data: { default: null, description: `any JSON, at most ${MAX_DEPTH} levels deep` },
};
const user = { name: text(200), email: text(200) };
export const object = (properties: Record<string, object>, required = Object.keys(properties)) => ({
  type: "object",
  properties,
  required,
  additionalProperties: false,
});
const needed = ["title", "body", "author"];
const content = object({ id: ulid, ...draft, created_at: time, updated_at: time });
const kept = object({ id: { type: "integer" }, ...user });

/** JSON Schemas (2020-12). They validate requests, and /openapi.json shows them. */
export const SCHEMAS = {
  NewContent: object({ id: ulid, ...draft }, needed),
  Draft: object(draft, needed),
  Content: content,
  Contents: object({
    items: { type: "array", maxItems: MAX_LIMIT, items: content },
    next: { ...ulid, type: ["string", "null"], description: "`after` for the next page; null on the last page" },
  }),
  NewUser: object(user),
  User: kept,
  Users: { type: "array", items: kept },
  Id: ulid,
};

const ajv = new Ajv2020({ useDefaults: true, strictTypes: false });

/** @returns a function that checks a body and fills in its defaults; it throws HttpError 422. */
export function validator<T>(schema: object): (body: unknown) => T {
  const isValid = ajv.compile<T>(schema);
  return (body) => {
    if (isValid(body)) return body;
    const { instancePath, message, params } = isValid.errors?.[0] ?? {};
    const where = instancePath ? instancePath.slice(1) : "the body";
    throw new HttpError(422, [where, message, params?.additionalProperty].filter(Boolean).join(" "));
  };
}

export const isId = ajv.compile(SCHEMAS.Id);
export const newUser = validator<NewUser>(SCHEMAS.NewUser);
export const newContent = shallow(validator<Draft & { readonly id?: string }>(SCHEMAS.NewContent));
export const newDraft = shallow(validator<Draft>(SCHEMAS.Draft));

function shallow<T extends Draft>(validate: (body: unknown) => T): (body: unknown) => T {
  return (body) => {
    const content = validate(body);
    if (isShallow(content.data, MAX_DEPTH)) return content;
    throw new HttpError(422, `data must not be nested more than ${MAX_DEPTH} deep`);
  };
}

const isShallow = (value: unknown, levels: number): boolean =>
  typeof value !== "object" ||
  value === null ||
  (levels > 0 && Object.values(value).every((part) => isShallow(part, levels - 1)));
