import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  Client,
  type ClientOptions,
  StreamableHTTPClientTransport,
  type Transport,
} from "@modelcontextprotocol/client";
import { afterAll, beforeAll, describe, expect, inject, onTestFinished, test } from "vitest";
import { z } from "zod";
import { startNatsServer } from "../packages/wire/testing/nats-server.ts";
import { createFixtureProject, type FixtureProject } from "./fixture-project.ts";
import { createGate } from "./gate.ts";
import { startShared, stdioOf } from "./printing-command.ts";

/** Starts whatever the way needs, with these flags for the process that has the tools. */
type Way = (
  project: FixtureProject,
  flags: readonly string[],
  onEnd: (end: () => Promise<void>) => void,
) => Promise<() => Transport>;

const HERE: Way = async (project, flags) => () => stdioOf(project, "serve", ...flags);
const ZMQ: Way = async (project, flags, onEnd) => {
  const sockets = realpathSync(mkdtempSync(join(tmpdir(), "octant-sockets-")));
  const address = `ipc://${sockets}/s`;
  const { stop } = await startShared(project, "serve", "--zmq", address, ...flags);
  onEnd(async () => {
    await stop();
    rmSync(sockets, { recursive: true, force: true });
  });
  return () => stdioOf(project, "edge", "--via", address);
};
const NATS: Way = async (project, flags, onEnd) => {
  const nats = await startNatsServer();
  const worker = await startShared(project, "worker", "--nats", nats.url, ...flags);
  const edge = await startShared(project, "serve", "--http", "--nats", nats.url);
  onEnd(async () => {
    await Promise.all([edge.stop(), worker.stop()]);
    await nats.stop();
  });
  const { url, token } = edge.printed;
  const requestInit = { headers: { authorization: `Bearer ${token}` } };
  return () => new StreamableHTTPClientTransport(new URL(String(url)), { requestInit });
};

const WAYS = {
  "octant serve": HERE,
  "octant edge over ZeroMQ": ZMQ,
  ...(!inject("missing").includes("nats-server") && { "an edge over NATS": NATS }),
};
const ERAS = ["legacy", "auto"] as const;

describe.each(Object.entries(WAYS))("%s", (_name, way) => {
  let project: FixtureProject;
  /** Connects to the way without flags. */
  let open: () => Transport;
  let end = async () => {};
  beforeAll(async () => {
    project = createFixtureProject();
    open = await way(project, [], (stop) => {
      end = stop;
    });
  });
  afterAll(async () => {
    await end();
    project[Symbol.dispose]();
  });

  test("asks the person before it changes something, and obeys, in both eras", async () => {
    const openAsking = await way(project, ["--permissions", "enforce"], onTestFinished);
    for (const mode of ERAS) {
      const answers = [{ answer: "once" }, { answer: "deny" }, { answer: "once" }];
      const asked: string[] = [];
      const client = await connect(openAsking(), { versionNegotiation: { mode }, capabilities: FORMS });
      client.setRequestHandler("elicitation/create", async ({ params }) => {
        asked.push(params.message);
        return { action: "accept", content: { ...answers[asked.length - 1] } };
      });
      const call = async (name: string, args: object) =>
        (await client.callTool({ name, arguments: { ...args } })).structuredContent;
      const write = (uri: string) => call("fs", { action: "write", uri, content: "new\n" });
      expect(await write(`${mode}-a.txt`)).toMatchObject({ ok: true });
      expect(readFileSync(join(project.root, `${mode}-a.txt`), "utf8")).toBe("new\n");
      expect(await write(`${mode}-b.txt`)).toMatchObject({
        error: {
          code: "PERMISSION_DENIED",
          details: { by: "permission", reason: "the person said no" },
        },
      });
      expect(existsSync(join(project.root, `${mode}-b.txt`))).toBe(false);
      // Not answered in place everywhere: over NATS it is a job of the queue.
      expect(await call("proc", { action: "exec", command: "echo allowed | tee out.txt" })).toMatchObject({
        data: { stdout: "allowed\n" },
      });
      expect(asked).toHaveLength(3);
      expect(asked[2]).toContain("tee out.txt");
      await client.close();
    }
    const silent = await connect(openAsking(), { versionNegotiation: { mode: "legacy" } });
    const refused = await silent.callTool({
      name: "fs",
      arguments: { action: "write", uri: "c.txt", content: "" },
    });
    expect(refused.structuredContent).toMatchObject({ error: { code: "APPROVAL_REQUIRED" } });
    await silent.close();
  });

  test("has tasks: working, completed with the result of the call, cancelled, listed", async () => {
    const client = await connect(open(), { versionNegotiation: { mode: "legacy" } });
    const ask = (method: string, params: object) => client.request({ method, params: { ...params } }, ANY);
    const begin = async (command: string): Promise<string> => {
      const given = { name: "proc", arguments: { action: "exec", command }, task: {} };
      const { task } = await ask("tools/call", { ...given, _meta: { "octant/timing_hint": "async_long" } });
      return task.taskId;
    };
    const status = async (taskId: string) => (await ask("tasks/get", { taskId })).status;
    const gate = createGate(project.root);
    const taskId = await begin(`${gate.wait}; echo through the gate`);
    expect(await status(taskId)).toBe("working");
    gate.open();
    expect(await ask("tasks/result", { taskId })).toMatchObject({
      structuredContent: { ok: true, data: { exit_code: 0, stdout: "through the gate\n" } },
    });
    expect(await status(taskId)).toBe("completed");
    const endless = await begin("sleep 1000");
    await ask("tasks/cancel", { taskId: endless });
    await expect.poll(() => status(endless), POLL).toBe("cancelled");
    await expect(status("job_00mgbz4x2k1h7v0c9qj3t5w8y6r4n2b0d8f6")).rejects.toThrow("Unknown task");
    const { tasks } = await ask("tasks/list", {});
    const listed = tasks.map((task: { taskId: string }) => task.taskId);
    expect(listed).toEqual(expect.arrayContaining([taskId, endless]));
    await client.close();
  });

  test("shows the log of a job while it runs, and reports changes of jobs and files", async () => {
    const client = await connect(open(), { versionNegotiation: { mode: "legacy" } });
    const call = async (name: string, args: object) =>
      ((await client.callTool({ name, arguments: { ...args } })).structuredContent as { data: never }).data;
    const ids = async () =>
      ((await call("job", { action: "list", status: "running" })) as { jobs: { job_id: string }[] }).jobs;
    const gate = createGate(project.root);
    const running = call("proc", {
      action: "exec",
      command: `echo first; ${gate.wait}; echo last`,
    });
    await expect.poll(ids, POLL).toHaveLength(1);
    const job_id = (await ids())[0]?.job_id ?? "";
    const read = async () => {
      const { contents } = await client.readResource({ uri: `octant://job/${job_id}` });
      return String((contents[0] as { text?: string }).text);
    };
    await expect.poll(read, POLL).toContain("first");
    expect(await read()).toContain("proc.exec is running");
    const updates: string[] = [];
    client.setNotificationHandler("notifications/resources/updated", ({ params }) => {
      updates.push(params.uri);
    });
    await client.subscribeResource({ uri: `octant://job/${job_id}` });
    gate.open();
    await running;
    await expect.poll(() => updates, POLL).toContain(`octant://job/${job_id}`);
    expect(await call("job", { action: "status", job_id })).toMatchObject({ job: { state: "complete" } });
    const readme = `file://${project.root}/README.md`;
    await client.subscribeResource({ uri: readme });
    writeFileSync(join(project.root, "README.md"), "# Changed\n");
    await expect.poll(() => updates, POLL).toContain(readme);
    const background = { action: "exec", command: "echo ready; sleep 1000", background: true };
    const { proc_id } = (await call("proc", background)) as { proc_id: string };
    const logs = async () => ((await call("proc", { action: "logs", proc_id })) as { text: string }).text;
    await expect.poll(logs, POLL).toContain("ready");
    expect(await call("proc", { action: "kill", proc_id })).toMatchObject({ proc_id });
    await client.close();
  });
});

const FORMS = { elicitation: { form: {} } };
const POLL = { timeout: 30_000, interval: 50 };
const ANY = z.any();

async function connect(transport: Transport, options: ClientOptions): Promise<Client> {
  const client = new Client({ name: "test", version: "1" }, options);
  await client.connect(transport);
  return client;
}
