import type { IncomingMessage } from "node:http";
import { HttpError } from "./errors.ts";
import { LIMITS } from "./limits.ts";

/** What is wrong with a body, whoever finds it. */
export const BODY_ERRORS = {
  400: new HttpError(400, "the body is not valid JSON"),
  413: new HttpError(413, `the body is larger than ${LIMITS.bodyBytes} bytes`),
  415: new HttpError(415, "the body must be of content-type application/json in UTF-8, not compressed"),
};

/** Without a charset that some would decode, and others take for UTF-8. */
const JSON_TYPE = /^application\/json\s*(;\s*charset="?utf-8"?\s*)?$/i;
const utf8 = new TextDecoder(); // skips a byte order mark

/** Asks before a body is read. @param header tells a request header @throws HttpError 400, 413 or 415 */
export function checkHeaders(header: (name: string) => string | null | undefined): void {
  const type = header("content-type") ?? "";
  if (!JSON_TYPE.test(type) || header("content-encoding")) throw BODY_ERRORS[415];
  const bytes = Number(header("content-length") ?? 0);
  if (bytes > LIMITS.bodyBytes) throw BODY_ERRORS[413];
  if (bytes === 0 && !header("transfer-encoding")) throw BODY_ERRORS[400];
}

/** @throws HttpError 400 or 413 */
export function parseBody(bytes: ArrayBuffer | Uint8Array): unknown {
  if (bytes.byteLength > LIMITS.bodyBytes) throw BODY_ERRORS[413];
  try {
    return JSON.parse(utf8.decode(bytes));
  } catch {
    throw BODY_ERRORS[400];
  }
}

/** For what reads no bodies itself. What is too large is let past, so that the answer is read. @throws as the above */
export function readBody(request: IncomingMessage): Promise<unknown> {
  checkHeaders((name) => request.headers[name] as string | undefined);
  return new Promise<Buffer>((resolve, reject) => {
    const parts: Buffer[] = [];
    let bytes = 0;
    request.once("error", reject).on("data", (part: Buffer) => {
      bytes += part.length;
      if (bytes <= LIMITS.bodyBytes) parts.push(part);
      else reject(BODY_ERRORS[413]);
    });
    request.once("end", () => resolve(Buffer.concat(parts)));
  }).then(parseBody);
}

/** @returns what all servers say instead of an error that a framework made of a body; any other error as it is. */
export function bodyError(error: unknown): unknown {
  const { status, statusCode = status, type, code } = Object(error);
  const ofBody = type !== undefined || /^FST_ERR_CTP_/.test(code) || (error instanceof SyntaxError && statusCode);
  return ofBody ? (BODY_ERRORS[statusCode as keyof typeof BODY_ERRORS] ?? BODY_ERRORS[400]) : error;
}
