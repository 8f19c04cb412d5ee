/** What is asked at an endpoint. */
export interface Request {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** What it is to be answered with; any 2xx if absent. */
  readonly status?: number;
}

/** Name of an endpoint -> what is asked there. */
export type Requests = Readonly<Record<string, Request>>;
