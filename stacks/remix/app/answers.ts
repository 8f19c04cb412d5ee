import { createContext, type LoaderFunctionArgs } from "react-router";
import { answerError } from "../../../shared/errors.ts";
import { integer } from "../../../shared/input.ts";
import { MAX_SIZE, type Table } from "../../../shared/people.ts";
import type { People } from "../../../shared/stores/people.ts";

/** The objects that server.ts opens and loaders use. */
export interface Opened {
  readonly people: People;
  readonly identity: () => Promise<object>;
}

export const opened = createContext<Opened>();

/** Sets content-length, because React Router sends a Response without it in chunks. */
function respond(body: string, type: string, status = 200): Response {
  const headers = { "content-type": type, "content-length": String(Buffer.byteLength(body)) };
  return new Response(body, { status, headers });
}

export const json = (body: unknown, status?: number) => respond(JSON.stringify(body), "application/json", status);
export const html = (body: string) => respond(body, "text/html; charset=utf-8");

/** @returns the answer that all servers give for an error. */
export function failed(error: unknown): Response {
  const { status, body } = answerError(error);
  return json(body, status);
}

/** @returns a loader that answers with random rows of a table. */
export function randomRows(table: Table) {
  return ({ params, context }: LoaderFunctionArgs) => {
    try {
      const size = integer("size", params.size ?? "", MAX_SIZE);
      return json(context.get(opened).people.randomRows(table, size));
    } catch (error) {
      return failed(error);
    }
  };
}
