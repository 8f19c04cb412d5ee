/** A handler throws it to answer with a status other than 2xx. */
export class HttpError extends Error {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: number, message: string, headers = {}) {
    super(message);
    this.status = status;
    this.headers = headers;
  }
}

export const unavailable = new HttpError(503, "the store cannot be reached", { "retry-after": "1" });

/** For a path or method that no route has, and for an id that does not exist. */
export const notFound = new HttpError(404, "not found");

const NO_HEADERS = {};

export interface ErrorAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: { error: string };
}

/**
 * Maps an error of a handler or framework to the answer that all servers give.
 * A 4xx keeps its status and message; anything else is a 500, and its cause goes to stderr only.
 */
export function answerError(error: unknown): ErrorAnswer {
  if (error instanceof HttpError) {
    const { status, headers, message } = error;
    return { status, headers, body: { error: message } };
  }
  const { status, statusCode, message } = Object(error); // null has no properties
  const code = typeof status === "number" ? status : statusCode;
  if (typeof code === "number" && code >= 400 && code < 500) {
    return { status: code, headers: NO_HEADERS, body: { error: String(message) } };
  }
  if (error instanceof UsageError) {
    console.error(error.message); // the first request could not open the store
    return answerError(unavailable);
  }
  console.error(error);
  return { status: 500, headers: NO_HEADERS, body: { error: "internal error" } };
}

/** A wrong setting or option. `message` is one line: the value, what is wrong with it, the remedy. */
export class UsageError extends Error {}

/** Exits 1. Prints a {@link UsageError} as one line, any other error with its stack. */
export function exitWith(error: unknown): never {
  console.error(error instanceof UsageError ? error.message : error);
  process.exit(1);
}
