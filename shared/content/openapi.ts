import { MAX_SIZE, PEOPLE, type Table } from "../people.ts";
import { MAX_LIMIT, SCHEMAS } from "./schema.ts";

/** JSON type of a column of data.db. */
const TYPES = { TEXT: "string", INTEGER: "integer", REAL: "number" } as const;
const ID = { type: "integer", minimum: 1 };

const object = (properties: Record<string, object>, more: object = {}) => ({
  type: "object",
  required: Object.keys(properties),
  properties,
  ...more,
});
const text = { type: "string" };
const named = object({ name: text, version: { type: ["string", "null"] } });
const row = (table: Table) =>
  object(
    { id: ID, ...Object.fromEntries(PEOPLE[table].map(({ name, type }) => [name, { type: TYPES[type] }])) },
    {
      additionalProperties: false,
    },
  );

const BASE_SCHEMAS = {
  Error: object({ error: text }),
  Identity: object({
    server: text,
    runtime: named,
    framework: named,
    driver: object({ name: text, sqlite: text }),
    workers: { type: "integer", minimum: 1 },
    pid: { type: "integer" },
    uptimeSeconds: { type: "number" },
    cpuUs: { type: "number" },
    rssBytes: { type: "number" },
  }),
  Person5: row("person5"),
  Person30: row("person30"),
};

const json = (schema: object) => ({ content: { "application/json": { schema } } });
const ref = (name: keyof typeof SCHEMAS | keyof typeof BASE_SCHEMAS) => ({ $ref: `#/components/schemas/${name}` });
export const answer = (description: string, schema?: object) => ({ description, ...(schema && json(schema)) });

/** Errors by status; any operation on a store may answer the last two. */
const ERRORS: Readonly<Record<number, string>> = {
  400: "What was asked for is malformed",
  404: "There is none",
  409: "There is one with this id already, or a balance would be too large",
  413: "The body is too large",
  415: "The body is not said to be JSON",
  422: "The body's JSON is not as described",
  503: "The store cannot be reached; Retry-After says when to ask again",
  507: "The store is full",
};
export const errors = (...statuses: number[]) =>
  Object.fromEntries([...statuses, 503, 507].map((status) => [status, answer(ERRORS[status] as string, ref("Error"))]));
export const BODY_ERRORS = [400, 413, 415, 422];

const reads = (name: keyof typeof SCHEMAS) => ({ requestBody: { required: true, ...json(ref(name)) } });
const id = { name: "id", in: "path", required: true, schema: ref("Id") };
const query = (name: string, schema: object) => ({ name, in: "query", required: false, schema });

const rows = (operationId: string, fields: number, name: "Person5" | "Person30") => ({
  get: {
    operationId,
    summary: `Random rows of ${fields} fields`,
    parameters: [
      {
        name: "size",
        in: "path",
        required: true,
        description: "Number of rows",
        schema: { type: "integer", minimum: 1, maximum: MAX_SIZE },
      },
    ],
    responses: {
      200: answer("As many rows as asked for, the same one possibly more than once", {
        type: "array",
        minItems: 1,
        maxItems: MAX_SIZE,
        items: ref(name),
      }),
      400: answer("A mistake in the request", ref("Error")),
      404: answer("A mistake in the request", ref("Error")),
    },
  },
});

const paths = {
  "/": {
    get: {
      operationId: "identity",
      summary: "What the server is and what it has used",
      responses: { 200: answer("Identity", ref("Identity")) },
    },
  },
  "/plain": {
    get: {
      operationId: "plain",
      summary: "A greeting",
      responses: {
        200: answer(
          "Always the same",
          object({ message: { const: "Hello, world!" } }, { additionalProperties: false }),
        ),
      },
    },
  },
  "/html-template": {
    get: {
      operationId: "htmlTemplate",
      summary: "A page, rendered at every request",
      responses: {
        "200": {
          description: "The page",
          content: { "text/html": { schema: { type: "string", pattern: "<p>Hi Ben</p>" } } },
        },
      },
    },
  },
  "/sqlite/random-5fields/{size}": rows("random5Fields", 5, "Person5"),
  "/sqlite/random-30fields/{size}": rows("random30Fields", 30, "Person30"),
  "/content": {
    post: {
      operationId: "createContent",
      summary: "Keep a new content, under an id of the client's or the server's",
      ...reads("NewContent"),
      responses: { 201: answer("As it was kept", ref("Content")), ...errors(409, ...BODY_ERRORS) },
    },
    get: {
      operationId: "listContents",
      summary: "Contents in the order of their ids, a page at a time",
      parameters: [
        query("limit", { type: "integer", minimum: 1, maximum: MAX_LIMIT, default: 20 }),
        query("after", ref("Id")),
      ],
      responses: { 200: answer("A page", ref("Contents")), ...errors(400) },
    },
  },
  "/content/{id}": {
    parameters: [id],
    get: {
      operationId: "readContent",
      summary: "One content",
      responses: { 200: answer("The content", ref("Content")), ...errors(400, 404) },
    },
    put: {
      operationId: "updateContent",
      summary: "Replace what a client says of a content",
      ...reads("Draft"),
      responses: { 200: answer("As it is now", ref("Content")), ...errors(404, ...BODY_ERRORS) },
    },
    delete: {
      operationId: "removeContent",
      summary: "Forget a content",
      responses: { 204: answer("It is gone"), ...errors(400, 404) },
    },
  },
  "/users": {
    get: {
      operationId: "listUsers",
      summary: "The first hundred users",
      responses: { 200: answer("Users", ref("Users")), ...errors() },
    },
    post: {
      operationId: "addUser",
      summary: "Add a user",
      ...reads("NewUser"),
      responses: { 201: answer("The user", ref("User")), ...errors(...BODY_ERRORS) },
    },
  },
};

/** The description of all endpoints (OpenAPI 3.1). */
export const openapi = {
  openapi: "3.1.0",
  info: {
    title: "Simple HTTP servers",
    version: "1",
    description: "What each server of the matrix answers. Any other path or method is answered with 404 and an Error.",
  },
  servers: [{ url: "http://127.0.0.1:3000" }],
  paths,
  components: { schemas: { ...BASE_SCHEMAS, ...SCHEMAS } },
};
