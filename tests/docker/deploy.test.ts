/** compose.yaml and deploy/: started on a real engine; of the file for Kubernetes the fields that matter are checked. */
import { afterAll, describe, expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { readIdentity } from "../../bench/run/targets/target.ts";
import {
  COMPOSES,
  describeIf,
  IMAGE,
  must,
  needs,
  rowsOf,
  SERVERS,
  scratch,
  testIf,
  until,
  withImage,
  works,
} from "../harness.ts";

const FORTIO_IMAGE = `fortio/fortio:${/FORTIO_VERSION=(.*)/.exec(readFileSync("bench/setup.sh", "utf8"))?.[1]}`;
const folder = scratch();
const never = new AbortController().signal;
const composer = COMPOSES.find((one) => works(...one, "version")) ?? [];

describe("deploy/agents.kubernetes.yaml", () => {
  const objects = Bun.YAML.parse(readFileSync("deploy/agents.kubernetes.yaml", "utf8")) as { kind: string }[];

  test("each object has its kind and version, and all select the same pods", () => {
    const [labels, port] = [{ app: "agent" }, 8080];
    const agents = { matchLabels: labels };
    const metadata = { name: "agent", namespace: "load" };
    const container = {
      image: FORTIO_IMAGE,
      args: expect.arrayContaining(["server", `-http-port=${port}`]),
      ports: [{ containerPort: port }],
      readinessProbe: { httpGet: { path: "/fortio/rest/status", port } },
      securityContext: {
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ["ALL"] },
      },
    };
    const pod = {
      automountServiceAccountToken: false,
      securityContext: { runAsNonRoot: true },
      topologySpreadConstraints: [{ labelSelector: agents }],
      containers: [container],
    };
    const ingress = [{ from: [{ podSelector: { matchLabels: { app: "bench" } } }], ports: [{ port }] }];
    expect(objects).toMatchObject([
      { apiVersion: "v1", kind: "Namespace", metadata: { name: "load" } },
      { apiVersion: "v1", kind: "Service", metadata, spec: { selector: labels, ports: [{ port }] } },
      {
        ...{ apiVersion: "apps/v1", kind: "Deployment", metadata },
        spec: { replicas: 2, selector: agents, template: { metadata: { labels }, spec: pod } },
      },
      {
        ...{ apiVersion: "networking.k8s.io/v1", kind: "NetworkPolicy", metadata },
        spec: { podSelector: agents, policyTypes: ["Ingress"], ingress },
      },
    ]);
  });

  test("no agent can be reached from outside", () => {
    const { spec } = objects[1] as unknown as { spec: { clusterIP: string; type?: string } };
    expect([spec.clusterIP, spec.type]).toEqual(["None", undefined]);
    const stack = Bun.YAML.parse(readFileSync("deploy/agents.stack.yaml", "utf8")) as { services: { agent: object } };
    expect(Object.keys(stack.services.agent)).not.toContain("ports");
  });

  test("has the same version of fortio as the other files", () => {
    const text =
      readFileSync("deploy/agents.kubernetes.yaml", "utf8") + readFileSync("deploy/agents.stack.yaml", "utf8");
    expect(text).toContain(`image: ${FORTIO_IMAGE}`);
    const version = FORTIO_IMAGE.split(":")[1];
    expect(text).toContain(`\${FORTIO_VERSION:-${version}}`);
    expect(readFileSync("Dockerfile", "utf8")).toContain(`ARG FORTIO_VERSION=${version}\n`);
  });
});

describeIf(...needs("docker"), "on an engine", () => {
  withImage();

  describeIf(...needs("compose"), "compose.yaml", () => {
    const compose = (args: string[], env = {}) =>
      must([...composer, "-p", "http-benchmark-test", ...args], { IMAGE, ...env });
    const serverAt = async (port: number) => {
      const url = `http://127.0.0.1:${port}`;
      await until(async () => (await fetch(url).catch(() => null))?.ok === true);
      return (await readIdentity(url, never))?.server;
    };
    afterAll(() => {
      compose(["--profile", "all", "down", "-v"]);
    });

    test("SERVER selects one", async () => {
      compose(["up", "-d"], { SERVER: "bun-hono", PORT: "3456" });
      expect(await serverAt(3456)).toBe("bun-hono");
      compose(["down", "-v"]);
    });

    test("--profile all starts all ten, on ten ports", async () => {
      compose(["--profile", "all", "up", "-d"]);
      expect(await Promise.all(SERVERS.map((_, i) => serverAt(3000 + i)))).toEqual(SERVERS);
    });
  });

  const inSwarm = works("docker", "node", "ls");
  testIf(
    !inSwarm,
    "this engine is in a swarm already",
    "Docker Swarm: agents are found, measure, and are removed",
    async () => {
      must(["docker", "swarm", "init", "--advertise-addr", "127.0.0.1"]);
      try {
        must(["docker", "stack", "deploy", "-c", "deploy/agents.stack.yaml", "load"]);
        await until(() => must(["docker", "service", "ls", "--format", "{{.Replicas}}"]) === "1/1");
        must([
          "docker",
          "run",
          "-d",
          "--rm",
          "--name",
          "load-server",
          "--network",
          "load_agents",
          "-e",
          "SERVER=bun-raw",
          IMAGE,
        ]);
        const bench = [
          "./bench.sh",
          "http://load-server:3000",
          "--agents",
          "tasks.agent:8080",
          "--endpoints",
          "/plain",
        ];
        must(
          [
            "docker",
            "run",
            "--rm",
            "--network",
            "load_agents",
            "-v",
            `${process.cwd()}:/bench`,
            "-v",
            `${folder}:/results`,
          ]
            .concat(["-w", "/bench", "--user", "0", "--entrypoint", bench[0] ?? "", IMAGE, ...bench.slice(1)])
            .concat(["--minutes", "0", "--results", "/results/swarm.csv"]),
        );
        const rows = rowsOf(join(folder, "swarm.csv"));
        expect(rows.map(({ Name, GeneratorCpu }) => [Name, GeneratorCpu])).toEqual([
          ["bun-raw", ""],
          ["bun-raw", ""],
        ]);
      } finally {
        spawnSync("docker", ["rm", "-f", "load-server"]);
        must(["docker", "stack", "rm", "load"]);
        await until(() => !must(["docker", "network", "ls", "--format", "{{.Name}}"]).includes("load_agents"));
        must(["docker", "swarm", "leave", "--force"]);
      }
    },
  );
});
