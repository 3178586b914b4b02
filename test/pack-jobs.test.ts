import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { createZmqClient } from "@octant/wire";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createFixtureProject, type FixtureProject } from "./fixture-project.ts";
import { runOctant } from "./octant-process.ts";
import { startShared, stdioOf } from "./printing-command.ts";

/** A job with progress and a stream; it ends when it has counted. */
const MODULE = `
import { action, defineTool } from "@octant/core";
import { z } from "zod";
const count = action({
      summary: "Count to a number.", access: "read", timing: "async_medium", intent: "inspect",
      input: z.strictObject({ to: z.int() }), output: z.object({ counted: z.int() }),
      examples: [{ title: "To three", input: { to: 3 } }],
      async run({ to }, ctx) {
        for (let n = 1; n <= to; n++) {
          ctx.progress({ progress: n, total: to });
          ctx.emit({ kind: "text", text: String(n) });
          await new Promise((done) => setTimeout(done, 20));
        }
        return { counted: to };
      },
});
export const tools = [defineTool({
  name: "counter", summary: "Counts.",
  actions: { count, count_later: { ...count, timing: "async_long" } },
})];
`;

let project: FixtureProject;
let folder: string;
let server: Awaited<ReturnType<typeof startShared>>;
beforeAll(async () => {
  project = createFixtureProject();
  folder = realpathSync(mkdtempSync(join(tmpdir(), "octant-pack-jobs-")));
  mkdirSync(join(folder, "counter"));
  const octant = { pack: "counter" };
  const manifest = {
    type: "module",
    exports: "./index.js",
    peerDependencies: { "@octant/core": "*" },
    octant,
  };
  writeFileSync(join(folder, "counter/package.json"), JSON.stringify(manifest));
  writeFileSync(join(folder, "counter/index.js"), MODULE);
  const pack = ["--pack", join(folder, "counter")];
  server = await startShared(
    project,
    "serve",
    "--http",
    "--port",
    "0",
    "--zmq",
    `ipc://${folder}/wire`,
    ...pack,
  );
});
afterAll(async () => {
  await server.stop();
  project[Symbol.dispose]();
  rmSync(folder, { recursive: true, force: true });
});

const CALL = { tool: "counter", action: "count_later", input: { to: 5 } };

test("a pack's job streams over the wire, and job.poll has its result", async () => {
  const client = createZmqClient({ address: `ipc://${folder}/wire` });
  const chunks: { kind: string; text?: string }[] = [];
  const caller = { id: "wire", access: "admin" } as const;
  const { envelope } = await client.dispatch(CALL, { caller, onStream: (chunk) => void chunks.push(chunk) });
  const { job_id } = envelope.meta;
  const polled = await client.dispatch(
    { tool: "job", action: "poll", input: { job_id, timeout_ms: 20_000 } },
    { caller },
  );
  client.close();
  expect(polled.envelope.data).toMatchObject({
    job: { state: "complete" },
    result: { data: { counted: 5 } },
  });
  expect(chunks.some(({ kind }) => kind === "progress")).toBe(true);
});

/** The answer of counter.count over MCP, with its progress. */
async function overMcp(connect: (client: Client) => Promise<void>) {
  const client = new Client({ name: "test", version: "1" });
  await connect(client);
  const progress: number[] = [];
  const started = await client.callTool(
    { name: "counter", arguments: { action: "count", to: 5 } },
    { onprogress: (one) => void progress.push(one.progress) },
  );
  const { meta, data } = Object(started.structuredContent);
  const ended =
    data?.counted === undefined
      ? await client.callTool({
          name: "job",
          arguments: { action: "poll", job_id: meta.job_id, timeout_ms: 20_000 },
        })
      : started;
  await client.close();
  return { progress, text: JSON.stringify(ended.structuredContent) };
}

test("and over HTTP and stdio, with progress", async () => {
  const { url, token } = server.printed;
  const http = await overMcp((client) =>
    client.connect(
      new StreamableHTTPClientTransport(new URL(String(url)), {
        requestInit: { headers: { authorization: `Bearer ${token}` } },
      }),
    ),
  );
  const stdio = await overMcp((client) =>
    client.connect(stdioOf(project, "serve", "--pack", join(folder, "counter"))),
  );
  for (const { progress, text } of [http, stdio]) {
    expect(text).toContain('"counted":5');
    expect(progress.length).toBeGreaterThan(0);
  }
});

test("and from the command line", async () => {
  const called = await runOctant(
    ["call", "counter.count", "to=3", "--json", "--pack", join(folder, "counter")],
    {
      cwd: project.root,
      env: project.env,
    },
  );
  expect(JSON.parse(called.stdout)).toMatchObject({ ok: true, data: { counted: 3 } });
});
