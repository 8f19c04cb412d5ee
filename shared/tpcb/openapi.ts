import { answer, BODY_ERRORS, errors, openapi } from "../content/openapi.ts";
import { TPCB_SCHEMAS } from "./schema.ts";

const ref = (name: keyof typeof TPCB_SCHEMAS) => ({ $ref: `#/components/schemas/${name}` });
const balance = { 200: answer("The new balance of the account", ref("Balance")) };
const parameters = Object.entries(TPCB_SCHEMAS.Transfer.properties).map(([name, schema]) => ({
  name,
  in: "query",
  required: true,
  schema,
}));

const paths = {
  "/tx": {
    post: {
      operationId: "transact",
      summary: "Add delta to an account, a teller and a branch, and a row to the history, in one transaction",
      requestBody: { required: true, content: { "application/json": { schema: ref("Transfer") } } },
      responses: { ...balance, ...errors(404, 409, ...BODY_ERRORS) },
    },
    get: {
      operationId: "transactByQuery",
      summary: "The same transaction, with its values in the query",
      parameters,
      responses: { ...balance, ...errors(400, 404, 409) },
    },
  },
};

/** Adds the endpoints that a server has only if its store is Postgres. */
export const openapiOfPostgres = {
  ...openapi,
  paths: { ...openapi.paths, ...paths },
  components: { schemas: { ...openapi.components.schemas, ...TPCB_SCHEMAS } },
};
