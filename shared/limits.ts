/** What every server grants a client. */
export const LIMITS = {
  /** Request line and headers together. */
  headerBytes: 16_384,
};
