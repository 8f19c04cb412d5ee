/** An answer other than 2xx, to be thrown by a handler. */
export class HttpError extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** What every server passes to {@link answerError} for a path or method that no route has. */
export const notFound = new HttpError(404, "not found");

/**
 * Maps whatever a handler or framework threw to the answer all servers give.
 * Client errors keep their status and message; anything else is a 500 whose cause goes to stderr only.
 */
export function answerError(error: unknown): { status: number; body: { error: string } } {
  const { status, statusCode, message } = Object(error); // whatever it is, even null
  const code = typeof status === "number" ? status : statusCode;
  if (typeof code === "number" && code >= 400 && code < 500) {
    return { status: code, body: { error: String(message) } };
  }
  console.error(error);
  return { status: 500, body: { error: "internal error" } };
}

/** A mistake of whoever starts the program: `message` is one line that names the value and the remedy. */
export class UsageError extends Error {}

/** Prints a {@link UsageError} as its one line, anything else with its stack, and exits 1. */
export function exitWith(error: unknown): never {
  console.error(error instanceof UsageError ? error.message : error);
  process.exit(1);
}
