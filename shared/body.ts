import type { IncomingMessage } from "node:http";
import { HttpError } from "./errors.ts";
import { LIMITS } from "./limits.ts";

/** The answer is the same whether the adapter or its framework refuses a body. */
export const BODY_ERRORS = {
  400: new HttpError(400, "the body is not valid JSON"),
  413: new HttpError(413, `the body is larger than ${LIMITS.bodyBytes} bytes`),
  415: new HttpError(415, "the body must be of content-type application/json in UTF-8, not compressed"),
};

/** Accepts only UTF-8, because some frameworks decode other charsets and some read them as UTF-8. */
const JSON_TYPE = /^application\/json\s*(;\s*charset="?utf-8"?\s*)?$/i;
const utf8 = new TextDecoder(); // skips a byte order mark

/** Checks headers before the body is read. @param header returns a request header @throws HttpError 400, 413 or 415 */
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

/**
 * For servers whose framework reads no bodies. It reads to the end even if the body is too large, because many clients
 * read the answer only after they have sent everything. @throws HttpError 400, 413 or 415
 */
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

/** @returns the common answer instead of a framework's own error about a body; any other error unchanged. */
export function bodyError(error: unknown): unknown {
  const { status, statusCode = status, type, code } = Object(error);
  const ofBody = type !== undefined || /^FST_ERR_CTP_/.test(code) || (error instanceof SyntaxError && statusCode);
  return ofBody ? (BODY_ERRORS[statusCode as keyof typeof BODY_ERRORS] ?? BODY_ERRORS[400]) : error;
}
