/** The eight endpoints that are measured by default. */
export const ENDPOINTS = [
  "/plain",
  "/html-template",
  ...["5fields", "30fields"].flatMap((kind) => [1, 5, 10].map((size) => `/sqlite/random-${kind}/${size}`)),
];

/** The six steps of the content API as one endpoint: see load/sequence.js. Each step also has its own row. */
export const SEQUENCE = "content";

/** pgbench's transaction, with random accounts, tellers and branches: see load/sequence.js. */
export const TRANSACTION = "POST /tx";

const USERS = ["/users", "POST /users"] as const;
const CONTENT_API = ["content", "content API"] as const;

/**
 * One endpoint of each route, with its share of the warm-up. Most code is compiled at the lightest endpoint: V8 is done after
 * about 25,000 requests, JavaScriptCore after 15,000. A template takes 10,000; rows take fewer, because each request has ten.
 */
const ROUTES = {
  "/plain": 1,
  "/html-template": 0.3,
  "/sqlite/random-5fields/10": 0.05,
  "/sqlite/random-30fields/10": 0.05,
};

/**
 * `store`: whether servers keep content items; each server begins with its own copy of the same items.
 * `warmed`: endpoints of the warm-up after a restart, whatever is measured. `byK6`: k6 loads it, because requests differ.
 * `api`: what a stack that supports the workload lists, and the name of that in errors.
 */
export const WORKLOADS = {
  read: { endpoints: ENDPOINTS, warmed: ROUTES, store: false, byK6: false, api: ["read", "read API"] },
  content: { endpoints: [SEQUENCE], warmed: { [SEQUENCE]: 1 }, store: true, byK6: true, api: CONTENT_API },
  users: { endpoints: USERS, warmed: { [USERS[0]]: 1, [USERS[1]]: 0.3 }, store: true, byK6: false, api: CONTENT_API },
  tpcb: { endpoints: [TRANSACTION], warmed: { [TRANSACTION]: 1 }, store: true, byK6: true, api: ["tpcb", "/tx"] },
} as const;
export type Workload = keyof typeof WORKLOADS;

/** Whether k6 loads this endpoint, because not all its requests are alike. */
export const isSequence = (workload: Workload, endpoint: string): boolean =>
  WORKLOADS[workload].byK6 && (WORKLOADS[workload].endpoints as readonly string[]).includes(endpoint);
