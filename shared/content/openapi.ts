import { MAX_SIZE, PEOPLE, type Table } from "../people.ts";
import { MAX_LIMIT, SCHEMAS } from "./schema.ts";

/** SQL type of a column of data.db -> its JSON type. */
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

/** Any operation on a store may answer 503 or 507. */
const ERRORS: Readonly<Record<number, string>> = {
  400: "The request is malformed",
  404: "No item has this id",
  409: "A content with this id exists already, or a balance would be too large",
  413: "The body is too large",
  415: "The content-type is not application/json in UTF-8, or the body is compressed",
  422: "The JSON of the body does not match the schema",
  503: "The store cannot be reached; retry after the seconds in Retry-After",
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
      200: answer("The rows; a row may occur more than once", {
        type: "array",
        minItems: 1,
        maxItems: MAX_SIZE,
        items: ref(name),
      }),
      400: answer("The number of rows is not allowed", ref("Error")),
      404: answer("The number of rows is missing", ref("Error")),
    },
  },
});

const paths = {
  "/": {
    get: {
      operationId: "identity",
      summary: "Name and versions of the server, its CPU time so far and its memory",
      responses: { 200: answer("Identity", ref("Identity")) },
    },
  },
  "/plain": {
    get: {
      operationId: "plain",
      summary: "A greeting",
      responses: {
        200: answer("The greeting", object({ message: { const: "Hello, world!" } }, { additionalProperties: false })),
      },
    },
  },
  "/html-template": {
    get: {
      operationId: "htmlTemplate",
      summary: "A page that is rendered for every request",
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
      summary: "Create a content; without an id the server makes one",
      ...reads("NewContent"),
      responses: { 201: answer("The new content", ref("Content")), ...errors(409, ...BODY_ERRORS) },
    },
    get: {
      operationId: "listContents",
      summary: "List contents by id, one page at a time",
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
      summary: "Read a content",
      responses: { 200: answer("The content", ref("Content")), ...errors(400, 404) },
    },
    put: {
      operationId: "updateContent",
      summary: "Replace a content; its id and time of creation stay",
      ...reads("Draft"),
      responses: { 200: answer("The changed content", ref("Content")), ...errors(404, ...BODY_ERRORS) },
    },
    delete: {
      operationId: "removeContent",
      summary: "Delete a content",
      responses: { 204: answer("Deleted"), ...errors(400, 404) },
    },
  },
  "/users": {
    get: {
      operationId: "listUsers",
      summary: "List the first 100 users",
      responses: { 200: answer("The users", ref("Users")), ...errors() },
    },
    post: {
      operationId: "addUser",
      summary: "Add a user",
      ...reads("NewUser"),
      responses: { 201: answer("The new user", ref("User")), ...errors(...BODY_ERRORS) },
    },
  },
};

export const openapi = {
  openapi: "3.1.0",
  info: {
    title: "Simple HTTP servers",
    version: "1",
    description: "All servers answer these requests alike. Any other path or method gets status 404 and an Error.",
  },
  servers: [{ url: "http://127.0.0.1:3000" }],
  paths,
  components: { schemas: { ...BASE_SCHEMAS, ...SCHEMAS } },
};
