import { setTimeout as sleep } from "node:timers/promises";
import { serveStdio } from "@octant/mcp";
import { describe, expect, onTestFinished, test } from "vitest";
import { createLineClient } from "../packages/mcp/testing/lines.ts";
import { createFixture } from "./conformance/fixture-options.ts";

interface Answer {
  readonly result?: Readonly<Record<string, unknown>> & { readonly task?: Task } & Partial<Task>;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown };
}
interface Task {
  readonly taskId: string;
  readonly status: string;
  readonly inputRequests?: Readonly<Record<string, unknown>>;
}

/** A raw client of the conformance fixture, with its slow tools. */
function connect(fixture: ReturnType<typeof createFixture>, id = "me") {
  const lines = createLineClient();
  const server = serveStdio({ ...fixture.options, caller: { id, access: "admin" }, ...lines });
  onTestFinished(() => server.close());
  let count = 0;
  const send = async (method: string, params: object): Promise<Answer> => {
    lines.send({ jsonrpc: "2.0", id: ++count, method, params });
    return JSON.parse(await lines.next());
  };
  return { send, notify: (method: string) => lines.send({ jsonrpc: "2.0", method }) };
}

function openFixture() {
  const fixture = createFixture(() => {});
  onTestFinished(() => fixture.close());
  return fixture;
}

const POLL_MS = 10;
const FINAL = new Set(["completed", "failed", "cancelled"]);

const toMeta = (capabilities: object) => ({
  _meta: {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": capabilities,
  },
});
const TASKS = toMeta({ extensions: { "io.modelcontextprotocol/tasks": {} }, elicitation: {} });

describe("tasks of the modern revision", () => {
  const connectModern = (fixture = openFixture(), id?: string) => {
    const { send } = connect(fixture, id);
    const call = (name: string, args: object = {}, more: object = TASKS) =>
      send("tools/call", { name, arguments: args, ...more });
    const task = async (method: string, taskId: string, params: object = {}) =>
      send(`tasks/${method}`, { taskId, ...params, ...TASKS });
    /** Polls until the task has this status or has ended. */
    const until = async (taskId: string, status: string): Promise<Answer> => {
      for (;;) {
        const answer = await task("get", taskId);
        const now = answer.result?.status;
        if (now === status || now === undefined || FINAL.has(now)) {
          expect(answer.result).toMatchObject({ status });
          return answer;
        }
        await sleep(POLL_MS);
      }
    };
    return { fixture, send, call, task, until };
  };
  const idOf = ({ result }: Answer) => result?.taskId ?? "";

  test("a long call is a task, and its result is that of the call", async () => {
    const { call, until } = connectModern();
    const created = await call("slow_compute", { seconds: 0.1, label: "x" });
    expect(created.result).toMatchObject({
      resultType: "task",
      status: "working",
      ttlMs: expect.any(Number),
    });
    expect(created.result).not.toHaveProperty("result");
    expect((await until(idOf(created), "completed")).result).toMatchObject({
      resultType: "complete",
      result: { content: [{ type: "text", text: "computed x" }], isError: false },
    });
  });

  test("a client that did not declare tasks gets a handle, and no task methods", async () => {
    const { send, call } = connectModern();
    const answer = await call("slow_compute", { seconds: 0 }, toMeta({}));
    expect(answer.result).toMatchObject({
      resultType: "complete",
      content: [{ text: expect.stringContaining("job_") }],
    });
    for (const method of ["get", "update", "cancel"])
      expect((await send(`tasks/${method}`, { taskId: "x", ...toMeta({}) })).error?.code).toBe(-32021);
    expect((await send("tasks/list", TASKS)).error?.code).toBe(-32601);
  });

  test("questions of running work wait with the task for an answer", async () => {
    const { call, task, until } = connectModern();
    const taskId = idOf(await call("multi_input"));
    const asked = await until(taskId, "input_required");
    const [first = "", second = ""] = Object.keys(asked.result?.inputRequests ?? {});
    const accept = { action: "accept", content: { confirm: true } };
    expect(
      (await task("update", taskId, { inputResponses: { [first]: accept, other: accept } })).result,
    ).toMatchObject({
      resultType: "complete",
    });
    expect(Object.keys((await task("get", taskId)).result?.inputRequests ?? {})).toEqual([second]);
    await task("update", taskId, { inputResponses: { [second]: { action: "decline" } } });
    const done = await until(taskId, "completed");
    expect(JSON.stringify(done.result)).toContain("decline");
  });

  test("a task that waits for an answer can be cancelled, and more than once", async () => {
    const { call, task, until } = connectModern();
    const taskId = idOf(await call("confirm_delete", { filename: "a" }));
    await until(taskId, "input_required");
    for (let times = 0; times < 2; times++)
      expect((await task("cancel", taskId)).result).toMatchObject({ resultType: "complete" });
    await until(taskId, "cancelled");
  });

  test("failed work is completed with an error; a bug of ours is a failed task", async () => {
    const { call, until } = connectModern();
    const failing = idOf(await call("failing_job"));
    const broken = idOf(await call("protocol_error_job"));
    expect((await until(broken, "failed")).result).toMatchObject({ error: { code: -32603 } });
    expect((await until(failing, "completed")).result).toMatchObject({ result: { isError: true } });
  });

  test("another caller's task does not exist", async () => {
    const { fixture, call } = connectModern();
    const taskId = idOf(await call("slow_compute", { seconds: 60 }));
    const { task } = connectModern(fixture, "you");
    for (const method of ["get", "update", "cancel"])
      expect((await task(method, taskId)).error).toMatchObject({
        code: -32602,
        message: `Unknown task: ${taskId}`,
      });
  });
});

describe("tasks of revision 2025-11-25", () => {
  const connectLegacy = async (fixture = openFixture(), id?: string) => {
    const { send, notify } = connect(fixture, id);
    const shaken = await send("initialize", {
      protocolVersion: "2025-11-25",
      capabilities: {},
      clientInfo: { name: "test", version: "1" },
    });
    notify("notifications/initialized");
    const call = (name: string, args: object = {}) =>
      send("tools/call", { name, arguments: args, task: { ttl: 60_000 } });
    return { send, call, shaken };
  };

  test("a client that requests a task gets one, waits for its result, and finds it in the list", async () => {
    const { send, call, shaken } = await connectLegacy();
    expect(shaken.result).toMatchObject({ capabilities: { tasks: { requests: { tools: { call: {} } } } } });
    const listed = await send("tools/list", {});
    expect(JSON.stringify(listed.result)).toContain('"taskSupport":"optional"');
    const { task } = (await call("slow_compute", { seconds: 0.1, label: "x" })).result ?? {};
    expect(task).toMatchObject({
      status: "working",
      ttl: expect.any(Number),
      pollInterval: expect.any(Number),
    });
    const taskId = task?.taskId ?? "";
    expect((await send("tasks/result", { taskId })).result).toMatchObject({
      content: [{ text: "computed x" }],
      _meta: { "io.modelcontextprotocol/related-task": { taskId } },
    });
    expect((await send("tasks/get", { taskId })).result).toMatchObject({ taskId, status: "completed" });
    expect((await send("tasks/list", {})).result).toMatchObject({ tasks: [{ taskId }] });
  });

  test("an immediate answer is a task that has ended", async () => {
    const { send, call } = await connectLegacy();
    const { task } = (await call("greet", { name: "you" })).result ?? {};
    expect(task).toMatchObject({ status: "completed" });
    expect((await send("tasks/result", { taskId: task?.taskId })).result).toMatchObject({
      content: [{ text: "Hello, you!" }],
    });
  });

  test("a task is cancelled once, and an unknown one is refused", async () => {
    const { send, call } = await connectLegacy();
    const { task } = (await call("slow_compute", { seconds: 60 })).result ?? {};
    const taskId = task?.taskId;
    expect((await send("tasks/cancel", { taskId })).result).toMatchObject({ taskId, status: "cancelled" });
    expect((await send("tasks/cancel", { taskId })).error?.code).toBe(-32602);
    for (const method of ["get", "result", "cancel"])
      expect((await send(`tasks/${method}`, { taskId: "nope" })).error?.code).toBe(-32602);
  });
});
