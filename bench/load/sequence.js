/**
 * The script of k6: each iteration creates, reads, changes, reads and deletes one content item, expects 404 for it, and
 * checks every answer. If SCALE is set, each iteration is one transaction of pgbench instead.
 * Settings by --env: URL, CONNECTIONS, SECONDS, RATE (sequences per second; if absent, as many as possible), SCALE. See k6.ts.
 */
import http from "k6/http";
import { Counter, Gauge, Trend } from "k6/metrics";

const { URL = "http://127.0.0.1:3000", CONNECTIONS = "1", SECONDS = "1", RATE, SCALE } = __ENV;
const NAMES = SCALE ? [] : ["1 POST", "2 GET", "3 PUT", "4 GET", "5 DELETE", "6 GET 404"];
const TIMEOUT_SECONDS = 10;
const PERCENTS = [...Array.from({ length: 99 }, (_, i) => i + 1), 99.5, 99.9, 99.99];

const load = { duration: `${SECONDS}s`, gracefulStop: `${(NAMES.length || 1) * TIMEOUT_SECONDS + 1}s` };
const closed = { executor: "constant-vus", vus: Number(CONNECTIONS) };
const open = {
  executor: "constant-arrival-rate",
  preAllocatedVUs: Number(CONNECTIONS),
  // Both must be whole numbers, so rates are multiples of 0.001 sequences per second.
  rate: Math.round(Number(RATE) * 1e3),
  timeUnit: "1000s",
};

export const options = {
  scenarios: { sequence: { ...load, ...(RATE ? open : closed), exec: SCALE ? "transact" : "default" } },
  summaryTrendStats: ["count", "avg", "min", "max", ...PERCENTS.map((p) => `p(${p})`)],
  // No tags, because every sample would carry them.
  systemTags: [],
  // Otherwise k6 makes a new cookie jar for each iteration.
  noCookiesReset: true,
};
// No metric http_req_failed, because this script checks the answers.
http.setResponseCallback(null);

const steps = NAMES.map((name, i) => ({ name, latency: new Trend(`step_${i}`), errors: new Counter(`errors_${i}`) }));
const latency = new Trend("sequence");
const errors = new Counter("errors");
const refused = new Counter("refused");
const sockets = new Counter("sockets");
/** Minimum: start of the first sequence; maximum: end of the last sequence; ms since 1970. */
const clock = new Gauge("clock");

const bare = { timeout: `${TIMEOUT_SECONDS}s` };
const json = { ...bare, headers: { "Content-Type": "application/json" } };
const text = "The quick brown fox jumps over the lazy dog. ".repeat(10);

/** @returns start time and author prefix, which identify the content items of this run. */
export function setup() {
  return { since: Date.now(), run: Math.random().toString(36).slice(2) };
}

/** Deletes content items of sequences that Ctrl-C cut. Ids begin with the time, so those of this run are the last. */
export function teardown({ since, run }) {
  if (SCALE) return;
  const SKEW_MS = 60_000;
  let after = `${base32(since - SKEW_MS)}${"0".repeat(16)}`;
  while (after) {
    const { items = [], next } = parse(http.get(`${URL}/content?limit=100&after=${after}`, bare).body) ?? {};
    for (const { id } of items.filter(({ author }) => author.startsWith(run))) {
      http.del(`${URL}/content/${id}`, null, bare);
    }
    after = next;
  }
}

/** @returns the ten characters that a ULID of this time begins with. */
function base32(ms) {
  const DIGITS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
  return Array.from({ length: 10 }, (_, i) => DIGITS[Math.floor(ms / 32 ** (9 - i)) % 32]).join("");
}

export default function ({ run }) {
  if (__ITER === 0) clock.add(Date.now());
  const author = `${run} ${__VU}`;
  const data = { sequence: __ITER, tags: ["load", "test"], nested: { ratio: 0.5, none: null } };
  const draft = { title: `Draft ${__VU}-${__ITER}`, body: text, author, status: "draft", data };
  const final = { ...draft, title: `Final ${__VU}-${__ITER}`, status: "published" };
  const contents = `${URL}/content`;
  let ms = 0;
  let path = "";
  let latest = "";

  /** Sends one request. @returns whether `check` accepts its answer. */
  function step(i, method, url, content, check) {
    const response = http.request(method, url, content && JSON.stringify(content), content ? json : bare);
    const { duration, connecting } = response.timings;
    const { status } = response;
    ms += duration;
    steps[i].latency.add(duration);
    if (connecting > 0) sockets.add(1);
    if (check(status, response.body)) return true;
    steps[i].errors.add(1);
    if (status === 429 || status === 503) refused.add(1);
    return false;
  }
  /** A body equal to that of the latest change was checked already. */
  const reads = (content) => (status, body) => status === 200 && (body === latest || holds(parse(body), content));
  const changes = (wanted, content) => (status, body) => {
    latest = body;
    const answer = parse(body);
    if (!path && answer?.id) path = `${contents}/${answer.id}`;
    return status === wanted && path !== "" && path.endsWith(answer?.id) && holds(answer, content);
  };

  let good =
    step(0, "POST", contents, draft, changes(201, draft)) &&
    step(1, "GET", path, null, reads(draft)) &&
    step(2, "PUT", path, final, changes(200, final)) &&
    step(3, "GET", path, null, reads(final));
  // Also deletes what a failed sequence created.
  if (path) good = step(4, "DELETE", path, null, (status) => status === 204) && good;
  good = good && step(5, "GET", path, null, (status) => status === 404);
  latency.add(ms);
  if (!good) errors.add(1);
  clock.add(Date.now());
}

/** Draws account, teller, branch and delta at random from the same ranges as pgbench. */
export function transact() {
  if (__ITER === 0) clock.add(Date.now());
  const [aid, tid, bid] = [100_000, 10, 1].map((rows) => drawn(1, rows * Number(SCALE)));
  const body = JSON.stringify({ aid, tid, bid, delta: drawn(-5_000, 5_000) });
  const response = http.post(`${URL}/tx`, body, json);
  const { duration, connecting } = response.timings;
  const { status } = response;
  latency.add(duration);
  if (connecting > 0) sockets.add(1);
  if (status !== 200 || !Number.isInteger(parse(response.body)?.abalance)) errors.add(1);
  if (status === 429 || status === 503) refused.add(1);
  clock.add(Date.now());
}

/** @returns a random integer, uniformly distributed. */
const drawn = (least, most) => least + Math.floor(Math.random() * (most - least + 1));

/** @returns undefined if the body is not JSON. */
function parse(body) {
  try {
    return JSON.parse(body);
  } catch {}
}

/** Whether an answer contains everything that was sent; it may contain more. */
function holds(answer, sent) {
  if (typeof sent !== "object" || !sent || typeof answer !== "object" || !answer) return answer === sent;
  return Object.keys(sent).every((key) => holds(answer[key], sent[key]));
}

/** Prints k6.ts's Summary. */
export function handleSummary({ metrics }) {
  const value = (name, stat) => metrics[name]?.values[stat] ?? 0;
  const latencies = (name, errors) => ({
    requests: value(name, "count"),
    errors: value(errors, "count"),
    averageMs: value(name, "avg"),
    quantilesMs: [
      [0, value(name, "min")],
      ...PERCENTS.map((p) => [p, value(name, `p(${p})`)]),
      [100, value(name, "max")],
    ],
  });
  const summary = {
    startedAt: value("clock", "min"),
    endedAt: value("clock", "max"),
    sequence: latencies("sequence", "errors"),
    steps: Object.fromEntries(steps.map(({ name }, i) => [name, latencies(`step_${i}`, `errors_${i}`)])),
    refused: value("refused", "count"),
    sockets: value("sockets", "count"),
    dropped: value("dropped_iterations", "count"),
    bytes: value("data_received", "count"),
    sent: value("data_sent", "count"),
  };
  return { stdout: JSON.stringify(summary) };
}
