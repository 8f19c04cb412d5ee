/** What limited a slice, or made it worthless. */
export type Verdict =
  | "rate-limited"
  | "starved"
  | "invalid"
  | "client-bound"
  | "bandwidth-bound"
  | "server-bound"
  | "network-bound"
  | "undetermined"
  | "on schedule"
  | "service time";
