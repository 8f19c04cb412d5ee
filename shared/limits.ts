import type { ServerOptions } from "node:http";

/** What every server grants a client; each adapter sets it by its framework's own option. */
export const LIMITS = {
  /** Request line and headers together: the default of both runtimes, and on Bun fixed. */
  headerBytes: 16_384,
  /** Longest body of a request, where one is read. */
  bodyBytes: 102_400,
  /** Until all headers have come; on Bun fixed. */
  headersSeconds: 10,
  /** Until the body has come as well; Bun.serve has no such limit. */
  requestSeconds: 30,
  /** Between an answer and the next request. */
  idleSeconds: 10,
};

/** The same for http.createServer. */
export const HTTP_OPTIONS: ServerOptions = {
  maxHeaderSize: LIMITS.headerBytes,
  headersTimeout: LIMITS.headersSeconds * 1e3,
  requestTimeout: LIMITS.requestSeconds * 1e3,
  keepAliveTimeout: LIMITS.idleSeconds * 1e3,
  connectionsCheckingInterval: 1_000,
};
