/** What is asked at an endpoint. */
export interface Request {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** `body` is base64, because it is no text. */
  readonly base64?: true;
  /** The status of the answer; any 2xx if absent. */
  readonly status?: number;
}

/** Name of an endpoint -> what is asked there. */
export type Requests = Readonly<Record<string, Request>>;

/** What a generator, or the check before it, sends: a GET without headers if only the URL is given. */
export interface Asked extends Partial<Omit<Request, "path" | "status">> {
  readonly url: string;
  readonly insecure?: boolean;
  /** Looks whether an answer says that the connection is closed: ours never do. */
  readonly mayClose?: boolean;
  /** How large and how slow the answers were that were seen before the load. */
  readonly answer?: AnswersSeen;
}

/** What was seen of the answers to a request. */
export interface AnswersSeen {
  readonly bytes: number;
  readonly ms: number;
  /** After so many requests the server wants a connection to be closed, as it says in the header Keep-Alive; absent if it does not. */
  readonly perConnection?: number | undefined;
  /** More than headers and a body: no body, other answers before it, trailers after it. */
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

/** What the generator calls itself, unless a request says otherwise: the check sends the same. */
export const USER_AGENT = "fortio.org/fortio";

/** @returns all headers of a request that its client does not set for its connection. */
export const headersOf = ({ headers = {}, body }: Asked): Readonly<Record<string, string>> => ({
  "user-agent": USER_AGENT,
  ...(body !== undefined && { "content-type": "application/octet-stream" }),
  ...headers,
});
