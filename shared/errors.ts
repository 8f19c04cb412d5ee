/** An answer other than 2xx, to be thrown by a handler. */
export class HttpError extends Error {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: number, message: string, headers = {}) {
    super(message);
    this.status = status;
    this.headers = headers;
  }
}

/** A store that cannot be used now; the same request may succeed a little later. */
export const unavailable = new HttpError(503, "the store cannot be reached", { "retry-after": "1" });

/** What every server passes to {@link answerError} for a path or method that no route has. */
export const notFound = new HttpError(404, "not found");

const NO_HEADERS = {};

/** What is answered for an error. */
export interface ErrorAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: { error: string };
}

/**
 * Maps whatever a handler or framework threw to the answer all servers give.
 * Client errors keep their status and message; anything else is a 500 whose cause goes to stderr only.
 */
export function answerError(error: unknown): ErrorAnswer {
  if (error instanceof HttpError) {
    const { status, headers, message } = error;
    return { status, headers, body: { error: message } };
  }
  const { status, statusCode, message } = Object(error); // whatever it is, even null
  const code = typeof status === "number" ? status : statusCode;
  if (typeof code === "number" && code >= 400 && code < 500) {
    return { status: code, headers: NO_HEADERS, body: { error: String(message) } };
  }
  if (error instanceof UsageError) {
    console.error(error.message); // of a store that is opened when it is first used
    return answerError(unavailable);
  }
  console.error(error);
  return { status: 500, headers: NO_HEADERS, body: { error: "internal error" } };
}

/** A mistake of whoever starts the program: `message` is one line that names the value and the remedy. */
export class UsageError extends Error {}

/** Prints a {@link UsageError} as its one line, anything else with its stack, and exits 1. */
export function exitWith(error: unknown): never {
  console.error(error instanceof UsageError ? error.message : error);
  process.exit(1);
}
