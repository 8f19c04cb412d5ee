import base from "../openapi.json" with { type: "json" };
import { MAX_LIMIT, SCHEMAS } from "./schema.ts";

const json = (schema: object) => ({ content: { "application/json": { schema } } });
const ref = (name: keyof typeof SCHEMAS | "Error") => ({ $ref: `#/components/schemas/${name}` });
const answer = (description: string, schema?: object) => ({ description, ...(schema && json(schema)) });

/** Errors by status; any operation on a store may answer the last two. */
const ERRORS: Readonly<Record<number, string>> = {
  400: "What was asked for is malformed",
  404: "There is none",
  409: "There is one with this id already",
  413: "The body is too large",
  415: "The body is not said to be JSON",
  422: "The body's JSON is not as described",
  503: "The store cannot be reached; Retry-After says when to ask again",
  507: "The store is full",
};
const errors = (...statuses: number[]) =>
  Object.fromEntries([...statuses, 503, 507].map((status) => [status, answer(ERRORS[status] as string, ref("Error"))]));
const BODY_ERRORS = [400, 413, 415, 422];

const reads = (name: keyof typeof SCHEMAS) => ({ requestBody: { required: true, ...json(ref(name)) } });
const id = { name: "id", in: "path", required: true, schema: ref("Id") };
const query = (name: string, schema: object) => ({ name, in: "query", required: false, schema });

const paths = {
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

/** The description of all endpoints (OpenAPI 3.1): what is written by hand, and the content API from its schemas. */
export const openapi = {
  ...base,
  paths: { ...base.paths, ...paths },
  components: { ...base.components, schemas: { ...base.components.schemas, ...SCHEMAS } },
};
