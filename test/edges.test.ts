import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createTokenStore, type HttpServer } from "@octant/http";
import { serveHttp } from "@octant/mcp";
import { createNatsClient, createNatsWorker, type NatsWorker, serveZmq, type ZmqServer } from "@octant/wire";
import { afterAll, beforeAll, describe, expect, inject, onTestFinished, test } from "vitest";
import { createOctant, type Octant } from "../packages/app/src/octant.ts";
import { type NatsServer, startNatsServer } from "../packages/wire/testing/nats-server.ts";
import { crowd } from "../scripts/torture/edges-crowd.ts";
import { brokenLines } from "../scripts/torture/edges-lines.ts";
import { malformed } from "../scripts/torture/edges-malformed.ts";
import { killNatsWorkers } from "../scripts/torture/nats-kills.ts";
import { createRandom } from "../scripts/torture/report.ts";
import { BUSY_LIMITS, malformedWire } from "../scripts/torture/wire-malformed.ts";
import { type AnyClient, createEdgeClients } from "./edge-clients.ts";

let base: string;
let root: string;
let octant: Octant;
let server: HttpServer;
let zmq: ZmqServer;
let nats: NatsServer | undefined;
let worker: NatsWorker | undefined;
const HAS_NATS = !inject("missing").includes("nats-server");
let headers: Record<string, string>;

beforeAll(async () => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "octant-edges-")));
  root = join(base, "project");
  mkdirSync(join(root, "src"), { recursive: true });
  writeFileSync(join(root, "README.md"), "# Demo\nüñí 𝄞\n");
  writeFileSync(join(root, "src/main.js"), "export const answer = 42;\n".repeat(2_000));
  writeFileSync(
    join(root, "dot.png"),
    Buffer.from(
      "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
      "base64",
    ),
  );
  octant = createOctant({ roots: [root] });
  const tokens = createTokenStore({ folder: join(base, "tokens") });
  const { token } = tokens.create({ scopes: ["admin"] });
  headers = { authorization: `Bearer ${token}` };
  const { registry, dispatch } = octant;
  server = await serveHttp({
    registry,
    dispatch,
    name: "octant",
    version: "1",
    log: () => {},
    tokens,
    sse: true,
  });
  zmq = await serveZmq({
    ...octant,
    address: `ipc://${base}/zmq`,
    caller: { id: "local", access: "admin" },
    jobs: octant.workspace.jobs,
    name: "octant",
    version: "1",
    log: () => {},
  });
  if (!HAS_NATS) return;
  nats = await startNatsServer();
  worker = await createNatsWorker({
    ...octant,
    url: nats.url,
    project: "edges",
    caller: { id: "local", access: "admin" },
    jobs: octant.workspace.jobs,
    name: "octant",
    version: "1",
    log: () => {},
  });
});

afterAll(async () => {
  await zmq.close();
  await worker?.close();
  await nats?.stop();
  await server.close();
  await octant.close();
  rmSync(base, { recursive: true, force: true });
});

const EDGES = createEdgeClients({
  stdio: () => ({ cwd: root, home: base }),
  http: () => ({ url: server.url, headers }),
  zmq: () => zmq.address,
  ...(HAS_NATS && { nats: () => createNatsClient({ url: nats?.url ?? "", project: "edges" }) }),
});

const CALLS: readonly (readonly [tool: string, args: Record<string, unknown>])[] = [
  ["fs", { action: "read", uri: "README.md" }],
  ["fs", { action: "read", uri: "src/main.js", max_bytes: 500_000 }],
  ["fs", { action: "read", uri: ["README.md", "absent.md"] }],
  ["fs", { action: "read", uri: "dot.png" }],
  ["fs", { action: "stat", uri: "README.md" }],
  ["fs", { action: "list", uri: ".", depth: 2 }],
  ["fs", { action: "search_text", pattern: "Demo" }],
  ["fs", { action: "read", uri: "absent.md" }],
  ["fs", { action: "read", uri: "../outside" }],
  ["fs", { action: "read" }],
  ["fs", { action: "nope" }],
  ["fs", {}],
  ["fs", { action: "rm", uri: "README.md" }],
  ["ws", { action: "detect" }],
];

/** Fields that differ by nature between calls or processes. */
const isFleeting = (name: string) => ["trace_id", "cursor", "job_id"].includes(name);

const withoutFleeting = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value, (name, inside) => (isFleeting(name) ? undefined : inside)));

async function play(client: AnyClient): Promise<readonly unknown[]> {
  const answers: unknown[] = [];
  for (const [name, args] of CALLS) {
    const answer = (await client.callTool({ name, arguments: args })) as {
      structuredContent: unknown;
      isError: boolean;
    };
    answers.push([name, args, withoutFleeting(answer.structuredContent), answer.isError]);
  }
  return answers;
}

let expected: Promise<readonly unknown[]> | undefined;
const reference = () => {
  expected ??= (async () => {
    const answers: unknown[] = [];
    for (const [name, { action, ...input }] of CALLS) {
      const caller = { id: "local", access: "admin" } as const;
      const { envelope } = await octant.dispatch({ tool: name, action, input }, { caller });
      answers.push([
        name,
        { ...(action !== undefined && { action }), ...input },
        withoutFleeting(envelope),
        !envelope.ok,
      ]);
    }
    return answers;
  })();
  return expected;
};

describe.each(Object.entries(EDGES))("over %s", (_name, open) => {
  test("the same calls return the same envelopes as the dispatcher itself; an unknown tool is a protocol error", async () => {
    const client = await open();
    onTestFinished(() => client.close());
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(
      octant.registry.list().map(({ name }) => name),
    );
    // An unknown tool is a protocol error, after which the next call works.
    await expect(client.callTool({ name: "absent", arguments: {} })).rejects.toMatchObject({ code: -32602 });
    expect(await play(client)).toEqual(await reference());
  });
});

/** The full sizes are those of `npm run torture`. */
const BROKEN_FRAMES = 150;
const BROKEN_MESSAGES = 150;
const NATS_JOBS = 10;
const CROWD = 40;
const CALLS_OF_ONE = 10;

test("broken frames do not end the server: it does not grow, and answers the next call", async () => {
  const { facts, violations } = await malformed(BROKEN_FRAMES, createRandom(7));
  expect(violations, facts).toEqual([]);
});

test("broken lines do not end the server", async () => {
  const { facts, violations } = await brokenLines(BROKEN_FRAMES, createRandom(7));
  expect(violations, facts).toEqual([]);
});

test("broken messages do not end the ZeroMQ server: it does not grow, and answers the next call", async () => {
  const { facts, violations } = await malformedWire(BROKEN_MESSAGES, createRandom(7), BUSY_LIMITS);
  expect(violations, facts).toEqual([]);
});

test.skipIf(!HAS_NATS)(
  "jobs of NATS workers that are killed end exactly once",
  async () => {
    const { facts, violations } = await killNatsWorkers(NATS_JOBS, createRandom(7));
    expect(violations, facts).toEqual([]);
  },
  180_000,
);

test("each client of a crowd gets its own answers", async () => {
  const { facts, violations } = await crowd(CROWD, CALLS_OF_ONE);
  expect(violations, facts).toEqual([]);
});
