import type { ServerOptions } from "node:http";

/** Limits on clients; each adapter sets them with its framework's own options. */
export const LIMITS = {
  /** Request line and headers together: the default of both runtimes; fixed on Bun. */
  headerBytes: 16_384,
  /** Longest body, if the route reads one. */
  bodyBytes: 102_400,
  /** Until all headers have arrived; fixed on Bun. */
  headersSeconds: 10,
  /** Until the body has arrived; Bun.serve has no such limit. */
  requestSeconds: 30,
  /** Between an answer and the next request. */
  idleSeconds: 10,
};

export const HTTP_OPTIONS: ServerOptions = {
  maxHeaderSize: LIMITS.headerBytes,
  headersTimeout: LIMITS.headersSeconds * 1e3,
  requestTimeout: LIMITS.requestSeconds * 1e3,
  keepAliveTimeout: LIMITS.idleSeconds * 1e3,
  connectionsCheckingInterval: 1_000,
};
