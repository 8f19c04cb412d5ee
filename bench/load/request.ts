/** What is asked at an endpoint. */
export interface Request {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** `body` is base64, because it is no text. */
  readonly base64?: true;
  /** Expected status; any 2xx if absent. */
  readonly status?: number;
}

/** Name of an endpoint -> what is asked there. */
export type Requests = Readonly<Record<string, Request>>;

/** What a generator, or the check before it, sends: a GET without headers if only the URL is given. */
export interface Asked extends Partial<Omit<Request, "path" | "status">> {
  readonly url: string;
  readonly insecure?: boolean;
  /** Whether the generator looks for `Connection: close` in answers; servers of the matrix never send it. */
  readonly mayClose?: boolean;
  /** Size and time of the answers before the load. */
  readonly answer?: AnswersSeen;
}

export interface AnswersSeen {
  readonly bytes: number;
  readonly ms: number;
  /** Requests until the server wants a connection closed (`max` in its header Keep-Alive); absent if it sets no limit. */
  readonly perConnection?: number | undefined;
  /** Not just headers and a body: no body, 1xx answers before it, or trailers after it. */
  readonly isUnusual?: boolean;
}

/** @returns the bytes of a body; undefined if there is none. */
export const bytesOf = ({ body, base64 }: Pick<Asked, "body" | "base64">): Buffer | undefined =>
  body === undefined ? undefined : Buffer.from(body, base64 ? "base64" : "utf8");

/** @returns a body of these bytes. */
export function bodyOf(bytes: Buffer): Pick<Request, "body" | "base64"> {
  const text = bytes.toString("utf8");
  return bytes.equals(Buffer.from(text)) ? { body: text } : { body: bytes.toString("base64"), base64: true };
}

/** User-Agent of the generator if a request has none; the check sends the same. */
export const USER_AGENT = "fortio.org/fortio";

/** @returns all headers of a request, except those that the client sets for its connection. */
export const headersOf = ({ headers = {}, body }: Asked): Readonly<Record<string, string>> => ({
  "user-agent": USER_AGENT,
  ...(body !== undefined && { "content-type": "application/octet-stream" }),
  ...headers,
});
