import { answerError } from "shared/errors.ts";
import { integer } from "shared/input.ts";
import { MAX_SIZE, type Table } from "shared/people.ts";
import type { People } from "shared/stores/people.ts";

declare global {
  /** What server.ts has opened: handlers are bundled, so they share no modules with it. */
  var opened: { readonly people: People; readonly identity: () => Promise<object> };
}

/** @returns the answer that all servers give for an error. */
export function failed(error: unknown): Response {
  const { status, body } = answerError(error);
  return Response.json(body, { status });
}

/** @returns a handler that answers with random rows of a table. */
export function randomRows(table: Table) {
  return async (_request: Request, { params }: { params: Promise<{ size: string }> }) => {
    try {
      const size = integer("size", (await params).size, MAX_SIZE);
      return Response.json(opened.people.randomRows(table, size));
    } catch (error) {
      return failed(error);
    }
  };
}
