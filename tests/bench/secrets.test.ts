/** What a run writes has no secrets of the user, and what has to hold them is for this user only. */
import { describe, expect, test } from "bun:test";
import { globSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { TargetSpec } from "../../bench/ask/targets.ts";
import { runFile } from "../../bench/keep/files.ts";
import type { Manifest } from "../../bench/keep/manifest.ts";
import { withoutSecrets } from "../../bench/keep/secrets.ts";
import { hashOf, hiddenCommand, hiddenHeaders, hiddenText } from "../../bench/load/secrets.ts";
import { bench, finish, type Program, run, scratch, until } from "../harness.ts";

const folder = scratch();
let folders = 0;
/** A new file for results, alone with report.html in its folder. */
const newFile = () => {
  const own = join(folder, String(++folders));
  mkdirSync(own);
  return join(own, "results.csv");
};

/** Answers only requests that have all secrets, so that a run with hashes in their place fails. */
const app = join(folder, "app.ts");
writeFileSync(
  app,
  `Bun.serve({ hostname: "127.0.0.1", port: process.env.PORT, async fetch(request) {
    const { headers, url } = request;
    const sent = [headers.get("authorization"), headers.get("x-api-key"), headers.get("cookie"), url, await request.text(), process.env.DB_PASSWORD];
    const isRight = sent.filter((one) => one?.includes("SECRET-")).length >= (request.method === "POST" ? 6 : 5);
    return new Response("x", { status: isRight ? 200 : 401 });
  } });`,
);
const har = join(folder, "recorded.har");
const post = {
  request: {
    method: "POST",
    url: "http://x/recorded?access_token=SECRET-HAR-URL",
    headers: [{ name: "Cookie", value: "sid=SECRET-HAR-COOKIE" }],
    postData: { mimeType: "application/json", text: '{"password":"SECRET-HAR-BODY"}' },
  },
  response: { status: 200 },
};
writeFileSync(har, JSON.stringify({ log: { entries: [post] } }));

const OPTIONS = [
  ...["--start", `app=API_TOKEN=SECRET-COMMAND ${process.execPath} ${app}`, "--env", "DB_PASSWORD=SECRET-ENV"],
  ...["--header", "authorization: Bearer SECRET-TOKEN", "--header", "x-api-key: SECRET-KEY"],
  ...["--endpoints", "/items?page=2&token=SECRET-URL", "--requests", har],
];
const COOKIE = ["--header", "cookie: sid=SECRET-COOKIE; theme=dark"];
const BODY = ["--endpoints", "POST /login?key=SECRET-URL-2", "--body", '{"password":"SECRET-BODY"}'];

/** Files under a folder that have a secret. */
const leaks = (where: string): string[] =>
  globSync(`${where}/**/*`).filter(
    (file) => statSync(file).isFile() && readFileSync(file, "latin1").includes("SECRET-"),
  );
const modeOf = (file: string) => (statSync(file).mode & 0o777).toString(8);
const bodiesOf = ({ pid }: Program) => globSync(join(tmpdir(), `http-benchmark-${pid}-*`));

test("a run leaves no secret in any output, and cannot be continued without them", async () => {
  const file = newFile();
  const program = run(bench(file, ...OPTIONS, ...COOKIE, ...BODY, "--details"));
  await until(
    () => bodiesOf(program).some((one) => globSync(`${one}/*`).length > 0) || program.child.exitCode !== null,
  );
  const [bodies = ""] = bodiesOf(program);
  expect([modeOf(bodies), ...globSync(`${bodies}/*`).map(modeOf)].sort()).toEqual(
    ["700", ...globSync(`${bodies}/*`).map(() => "600")].sort(),
  );
  const { code } = await program.ended;
  const output = program.output();
  expect([code, output]).toEqual([0, expect.stringContaining(" slices in ")]);
  expect([output.match(/SECRET-\S+/g), leaks(dirname(file)), bodiesOf(program)]).toEqual([null, [], []]);
  const [, id = ""] = /run (\S+): summary/.exec(output) ?? [];
  const written = runFile(file, id, "json");
  const page = join(dirname(file), "report.html");
  expect([modeOf(written), modeOf(page)]).toEqual(["600", "600"]);
  const { plan } = JSON.parse(readFileSync(written, "utf8")) as Manifest;
  expect(plan.scenarios.map(({ name }) => name)).toEqual([
    `/items?page=2&token=${hashOf("SECRET-URL")}`,
    `POST /login?key=${hashOf("SECRET-URL-2")}`,
    `POST /recorded?access_token=${hashOf("SECRET-HAR-URL")}`,
  ]);
  expect(plan.targets).toMatchObject([{ env: { DB_PASSWORD: hashOf("SECRET-ENV") } }]);
  expect(Object.values(plan.requests ?? {})[1]).toMatchObject({
    headers: { authorization: hashOf("Bearer SECRET-TOKEN"), "content-type": "application/json" },
    body: hashOf('{"password":"SECRET-BODY"}'),
  });
  const refused = await finish(["./bench.sh", "--results", file, "--resume", id]);
  expect([refused.code, refused.output]).toEqual([1, expect.stringMatching(/^--resume .* --keep-secrets\n$/)]);
});

test("--keep-secrets keeps them for this user, not on the page, and the run can be continued", async () => {
  const file = newFile();
  const program = run(bench(file, ...OPTIONS, ...COOKIE, "--keep-secrets"));
  await until(() => program.output().includes("restart 2 ") || program.child.exitCode !== null);
  program.child.kill("SIGINT");
  await program.ended;
  const [, id = ""] = /--resume (\S+) continues/.exec(program.output()) ?? [];
  const { code, output } = await finish(["./bench.sh", "--results", file, "--resume", id]);
  expect([code, output]).toEqual([0, expect.stringContaining(" slices in ")]);
  const written = runFile(file, id, "json");
  expect([leaks(dirname(file)), modeOf(written)]).toEqual([[written], "600"]);
  // A page that is made later has none either.
  const page = join(dirname(file), "later.html");
  expect((await finish(["./bench.sh", "report", file, "--html", page])).code).toBe(0);
  expect([leaks(dirname(file)), modeOf(page)]).toEqual([[written], "600"]);
});

test("bodies of a run that was killed are removed by the next one", async () => {
  const program = run(bench(newFile(), ...OPTIONS, ...COOKIE, ...BODY));
  await until(() => bodiesOf(program).length > 0 || program.child.exitCode !== null);
  program.child.kill("SIGKILL");
  await program.ended;
  expect(bodiesOf(program)).toHaveLength(1);
  await finish(["./bench.sh", "check", ...OPTIONS, ...COOKIE, "--results", newFile()]);
  expect(bodiesOf(program)).toEqual([]);
});

test("an error that shows a URL hides its secrets", async () => {
  const options = ["--start", `app=${process.execPath} ${app}`, "--endpoints", "/items?token=SECRET-URL"];
  const { code, output } = await finish(["./bench.sh", "check", ...options, "--results", newFile()]);
  expect([code, output]).toEqual([1, expect.stringContaining(`/items?token=${hashOf("SECRET-URL")} with status 401`)]);
  expect(output).not.toContain("SECRET-");
});

test("the reason of a gate hides what an app says of its secrets", async () => {
  const file = newFile();
  const [json, markdown] = [join(dirname(file), "gate.json"), join(dirname(file), "gate.md")];
  const sides = [folder, folder].flatMap((side) => ["--ref", side]);
  const options = ["--start", 'echo "cannot use $DB_URL" >&2; exit 1', "--env", "DB_URL=postgres://u:SECRET-ENV@h/db"];
  const gate = ["./bench.sh", "compare", ...sides, ...options, "--fail-above", "5%", "--results", file];
  const { code, output } = await finish([...gate, "--json", json, "--markdown", markdown]);
  expect([code, output]).toEqual([3, expect.stringContaining(hashOf("postgres://u:SECRET-ENV@h/db"))]);
  expect([output.includes("SECRET-"), leaks(dirname(file))]).toEqual([false, []]);
  expect(readFileSync(markdown, "utf8")).toContain("cannot use sha256:");
});

describe("hidden", () => {
  const [a, b] = [hashOf("secret-a"), hashOf("secret-b")] as const;
  for (const [text, hidden] of [
    ["/a?page=2&q=author", "/a?page=2&q=author"],
    ["/a?author=ben&keyword=x&monkey=y", "/a?author=ben&keyword=x&monkey=y"],
    ["/a?x=1&access_token=secret-a&sig=secret-b#c", `/a?x=1&access_token=${a}&sig=${b}#c`],
    ["/a?token={{login.token}}", "/a?token={{login.token}}"],
    ["http://secret-a@host/ and postgres://secret-b@host/db", `http://${a}@host/ and postgres://${b}@host/db`],
    [`http://${a}@host/?token=${b}`, `http://${a}@host/?token=${b}`],
    ["ssh://root@vps", "ssh://root@vps"],
  ] as const) {
    test(text, () => expect(hiddenText(text)).toBe(hidden));
  }

  for (const [command, hidden] of [
    ["node app.js --port 3000 --key-file a.pem", "node app.js --port 3000 --key-file a.pem"],
    ["DB_PASSWORD=secret-a node app.js --token secret-b", `DB_PASSWORD=${a} node app.js --token ${b}`],
    ["npm run auth server", "npm run auth server"],
    ["a --token secret-a; B_SECRET='secret-b' c", `a --token ${a}; B_SECRET=${hashOf("'secret-b'")} c`],
  ] as const) {
    test(command, () => expect(hiddenCommand(command)).toBe(hidden));
  }

  test("headers that authorize, whatever their name, and URLs in others", () => {
    const shown = { accept: "text/html", "x-forwarded-proto": "https", "keep-alive": "x" };
    const secret = [
      "authorization",
      "cookie",
      "set-cookie",
      "x-api-key",
      "x-y-key",
      "x-csrf-token",
      "client-secret",
      "password",
    ];
    const headers = { ...shown, ...Object.fromEntries(secret.map((name) => [name, "secret-a"])) };
    expect(hiddenHeaders(headers)).toEqual({
      ...shown,
      ...Object.fromEntries(secret.map((name) => [name, a])),
    });
    expect(hiddenHeaders({ referer: "http://x/?token=secret-a", from: "Bearer secret-b" })).toEqual({
      referer: `http://x/?token=${a}`,
      from: hashOf("Bearer secret-b"),
    });
  });

  test("what a server or an error repeats of a secret", () => {
    const env = { DATABASE_URL: "postgres://u:secret-a@h/db", LEVEL: "1", MODE: "short" };
    const target = { kind: "local", name: "app", command: ["sh", "-c", "x"], env, app: { cwd: "/", ready: null } };
    const headers = { authorization: "Bearer secret-b", cookie: "sid=secret-c; theme=x" };
    const request = { method: "POST", path: "/", headers, body: '{"password": "secret-d", "n": 1}' };
    const said = "app: 1 failed at short: secret-a, secret-b, secret-c, secret-d: wrong password";
    const manifest = {
      plan: { targets: [target as TargetSpec], requests: { "POST /": request } },
      left: [{ name: "app", restart: 2, scenario: null, reason: said }],
      remarks: [said],
    } as unknown as Manifest;
    const hidden = withoutSecrets(manifest);
    const wanted = `app: 1 failed at short: ${["a", "b", "c", "d"].map((x) => hashOf(`secret-${x}`)).join(", ")}: wrong password`;
    expect([hidden.left[0]?.reason, hidden.remarks, hidden.secrets]).toEqual([wanted, [wanted], "hashed"]);
    expect(JSON.stringify(hidden)).not.toContain("secret-");
    expect(withoutSecrets(hidden)).toEqual(hidden);
  });
});
