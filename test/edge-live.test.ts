import { mkdtempSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";
import { Client, StreamableHTTPClientTransport, type Transport } from "@modelcontextprotocol/client";
import { action, defineTool } from "@octant/core";
import { createNatsWorker, serveZmq } from "@octant/wire";
import { describe, expect, inject, onTestFinished, test } from "vitest";
import { z } from "zod";
import { createOctant, type Octant } from "../packages/app/src/octant.ts";
import { startNatsServer } from "../packages/wire/testing/nats-server.ts";
import { createFixtureProject, type FixtureProject } from "./fixture-project.ts";
import { callOctant } from "./octant-in-process.ts";
import { startOctant } from "./octant-process.ts";
import { startPrinting, stdioOf } from "./printing-command.ts";

const caller = { id: "local", access: "admin" } as const;
const toServe = ({ registry, wireDispatch, workspace }: Octant) => ({
  registry,
  dispatch: wireDispatch,
  jobs: workspace.jobs,
  roots: workspace.confinement.roots.map((root) => pathToFileURL(root).href),
  caller,
  name: "octant",
  version: "1",
  log: () => {},
});

/** Serves the tools, and starts an edge in a process of its own. */
type Way = (octant: Octant, project: FixtureProject) => Promise<Transport>;
const WAYS: Readonly<Record<string, Way>> = {
  async ZeroMQ(octant, project) {
    const sockets = realpathSync(mkdtempSync(join(tmpdir(), "octant-sockets-")));
    onTestFinished(() => rmSync(sockets, { recursive: true, force: true }));
    const address = `ipc://${sockets}/s`;
    const server = await serveZmq({ ...toServe(octant), address });
    onTestFinished(() => server.close());
    return stdioOf(project, "edge", "--via", address);
  },
  ...(!inject("missing").includes("nats-server") && {
    async NATS(octant, project) {
      const nats = await startNatsServer();
      onTestFinished(() => nats.stop());
      const worker = await createNatsWorker({ ...toServe(octant), url: nats.url, project: "live" });
      onTestFinished(() => worker.close());
      const { url, token } = (await startPrinting(project, "serve", "--http", "--nats", nats.url)).printed;
      const requestInit = { headers: { authorization: `Bearer ${token}` } };
      return new StreamableHTTPClientTransport(new URL(String(url)), { requestInit });
    },
  }),
};

function createPatient() {
  const asked = Promise.withResolvers<void>();
  const declare = { access: "read", intent: "inspect", examples: [{ title: "Once", input: {} }] } as const;
  const patient = defineTool({
    name: "patient",
    summary: "Asks late.",
    actions: {
      ponder: action({
        ...declare,
        summary: "Ask after the call was answered.",
        timing: "async_long",
        input: z.strictObject({}),
        output: z.object({ answer: z.unknown() }),
        async run(_, { ask }) {
          await asked.promise;
          const properties = { sure: { type: "boolean" } };
          const schema = { type: "object", properties, required: ["sure"] } as const;
          return { answer: await ask({ kind: "form", message: "Still there?", schema }) };
        },
      }),
    },
  });
  return { patient, askNow: asked.resolve };
}

describe.each(Object.entries(WAYS))("an edge over %s", (_name, way) => {
  test("follows tools that come and go, and shows the question of a job that was already answered", async () => {
    const project = createFixtureProject();
    onTestFinished(() => project[Symbol.dispose]());
    const octant = createOctant({ roots: [project.root], env: project.env });
    onTestFinished(() => octant.close());
    const client = new Client(
      { name: "test", version: "1" },
      { versionNegotiation: { mode: "legacy" }, capabilities: { elicitation: { form: {} } } },
    );
    let onChanged = () => {};
    client.setNotificationHandler("notifications/tools/list_changed", () => onChanged());
    client.setRequestHandler("elicitation/create", async ({ params }) => {
      expect(params.message).toBe("Still there?");
      return { action: "accept", content: { sure: true } };
    });
    await client.connect(await way(octant, project));
    onTestFinished(() => client.close());
    const names = async () => (await client.listTools()).tools.map(({ name }) => name);
    const change = async (act: () => unknown) => {
      const { promise, resolve } = Promise.withResolvers<void>();
      onChanged = resolve;
      act();
      await promise;
      return names();
    };
    const before = await names();
    const { patient, askNow } = createPatient();
    expect(await change(() => octant.addTool(patient))).toEqual([...before, "patient"]);
    const call = async (name: string, args: Record<string, unknown>) =>
      // The envelope of any action.
      (await client.callTool({ name, arguments: args })).structuredContent as {
        data: Record<string, unknown>;
      };
    const { job_id } = (await call("patient", { action: "ponder" })).data;
    askNow();
    const { data } = await call("job", { action: "poll", job_id });
    expect(data["result"]).toMatchObject({
      ok: true,
      data: { answer: { answer: "accept", content: { sure: true } } },
    });
    expect(await change(() => octant.removeTool("patient"))).toEqual(before);
  });
});

test("octant ps, watch and answer show an edge: its folder, its client, its calls and its questions", async () => {
  const project = createFixtureProject();
  onTestFinished(() => project[Symbol.dispose]());
  const octant = createOctant({ roots: [project.root], env: project.env, permissions: "enforce" });
  onTestFinished(() => octant.close());
  const client = new Client(
    { name: "editor", version: "7" },
    { versionNegotiation: { mode: "legacy" }, capabilities: { elicitation: { form: {} } } },
  );
  const shown = Promise.withResolvers<void>();
  client.setRequestHandler("elicitation/create", () => {
    shown.resolve();
    return new Promise<never>(() => {});
  });
  await client.connect(await WAYS["ZeroMQ"]!(octant, project));
  onTestFinished(() => client.close());
  const at = { cwd: project.root, env: project.env };
  const written = client.callTool({
    name: "fs",
    arguments: { action: "write", uri: "asked.txt", content: "yes\n" },
  });
  await shown.promise;
  const [edge, ...others] = JSON.parse((await callOctant(["ps", "--json"], at)).stdout);
  expect(others).toEqual([]);
  expect(edge).toMatchObject({
    command: "edge",
    roots: [project.root],
    clients: ["editor 7"],
    state: "waiting",
    questions: [{ kind: "permission", action: "fs.write" }],
  });
  const watching = startOctant(["watch", String(edge.pid), "--json", "--topic", "calls"], at);
  onTestFinished(() => void watching.kill());
  const answered = await callOctant(["answer", edge.questions[0].question_id, "once"], at);
  expect(answered, answered.stderr).toMatchObject({ code: 0 });
  expect((await written).structuredContent ?? (await written).content).toBeDefined();
  expect(readFileSync(join(project.root, "asked.txt"), "utf8")).toBe("yes\n");
  const lines = createInterface({ input: watching.stdout })[Symbol.asyncIterator]();
  const reading = setInterval(
    () => void client.callTool({ name: "fs", arguments: READ }).catch(() => {}),
    200,
  );
  onTestFinished(() => clearInterval(reading));
  expect(JSON.parse((await lines.next()).value ?? "")).toMatchObject({ topic: "calls", tool: "fs" });
});

const READ = { action: "read", uri: "README.md" };
