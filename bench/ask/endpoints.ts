/** The eight endpoints that are measured unless others are asked for. */
export const ENDPOINTS = [
  "/plain",
  "/html-template",
  ...["5fields", "30fields"].flatMap((kind) => [1, 5, 10].map((size) => `/sqlite/random-${kind}/${size}`)),
];

/** The content API's six steps, as one: see load/sequence.js. Its steps are rows of their own. */
export const SEQUENCE = "content";

/** pgbench's transaction, whose accounts, tellers and branches are drawn: see load/sequence.js. */
export const TRANSACTION = "POST /tx";

const USERS = ["/users", "POST /users"] as const;
const CONTENT_API = ["content", "content API"] as const;

/**
 * One endpoint of each route, and which part of the warm-up it has. At the lightest, most code is compiled: V8 is done after some
 * 25,000 requests, JavaScriptCore after 15,000. A template takes 10,000, and rows fewer, as each request has ten.
 */
const ROUTES = {
  "/plain": 1,
  "/html-template": 0.3,
  "/sqlite/random-5fields/10": 0.05,
  "/sqlite/random-30fields/10": 0.05,
};

/**
 * What servers are asked for; if content items are kept, each server begins with the same and with a copy of its own.
 * `warmed` after a restart, whatever is measured.
 * `byK6` if not all requests are alike. `api` is what a stack lists if it can be asked, as errors call it.
 */
export const WORKLOADS = {
  read: { endpoints: ENDPOINTS, warmed: ROUTES, store: false, byK6: false, api: ["read", "read API"] },
  content: { endpoints: [SEQUENCE], warmed: { [SEQUENCE]: 1 }, store: true, byK6: true, api: CONTENT_API },
  users: { endpoints: USERS, warmed: { [USERS[0]]: 1, [USERS[1]]: 0.3 }, store: true, byK6: false, api: CONTENT_API },
  tpcb: { endpoints: [TRANSACTION], warmed: { [TRANSACTION]: 1 }, store: true, byK6: true, api: ["tpcb", "/tx"] },
} as const;
export type Workload = keyof typeof WORKLOADS;

/** Whether k6 asks there, because not all requests are alike. */
export const isSequence = (workload: Workload, endpoint: string): boolean =>
  WORKLOADS[workload].byK6 && (WORKLOADS[workload].endpoints as readonly string[]).includes(endpoint);
