import { mkdtempSync, realpathSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { PassThrough } from "node:stream";
import { action, defineTool, newHandle, ToolError } from "@octant/core";
import { readAudit } from "@octant/runtime";
import { afterEach, beforeEach, expect, expectTypeOf, test } from "vitest";
import { z } from "zod";
import { createOctant, type OctantOptions } from "./octant.ts";

let base: string;
beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "octant-factory-")));
  writeFileSync(join(base, "README.md"), "# Demo\n");
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

const greeter = defineTool({
  name: "greeter",
  summary: "Says hello.",
  actions: {
    greet: action({
      summary: "Says hello to somebody.",
      access: "read",
      timing: "sync",
      intent: "inspect",
      input: z.strictObject({ name: z.string() }),
      output: z.object({ words: z.int() }),
      examples: [{ title: "To the world", input: { name: "world" } }],
      run: ({ name }) => ({ words: `hello ${name}`.split(" ").length }),
    }),
    fail: action({
      summary: "Has a bug.",
      access: "read",
      timing: "sync",
      intent: "inspect",
      input: z.strictObject({}),
      output: z.null(),
      examples: [{ title: "Fail", input: {} }],
      run: () => {
        throw new Error("the bug");
      },
    }),
  },
});

const open = (options: OctantOptions<typeof greeter> = {}) =>
  createOctant({
    projectPath: base,
    env: { XDG_STATE_HOME: join(base, "state") },
    customTools: [greeter],
    ...options,
  });

test("the client has our tools and the caller's own, with their types", async () => {
  await using octant = open();
  const { words } = await octant.client.greeter.greet({ name: "world" });
  expectTypeOf(words).toEqualTypeOf<number>();
  expect(words).toBe(2);
  const file = await octant.client.fs.read({ uri: "README.md" });
  expect(file).toMatchObject({ text: "# Demo\n" });
  // @ts-expect-error: greet takes a name
  await expect(octant.client.greeter.greet({})).rejects.toThrow(ToolError);
});

test("our tools are listed first", async () => {
  await using octant = open();
  expect(octant.registry.list().map(({ name }) => name)).toEqual([
    "ws",
    "fs",
    "code",
    "proc",
    "test",
    "vcs",
    "net",
    "ui",
    "search",
    "job",
    "greeter",
  ]);
});

test("tools can be selected and disabled", async () => {
  await using octant = open({ tools: ["fs"], toolConfig: { disable: ["fs.write", "greeter"] } });
  expect(octant.registry.list().map(({ name }) => name)).toEqual(["fs"]);
  await expect(octant.client.fs.write({ uri: "x", content: "x" })).rejects.toMatchObject({
    code: "UNKNOWN_ACTION",
  });
});

test.each([
  { tools: ["nope"] },
  { toolConfig: { enable: ["nope"] } },
  { toolConfig: { disable: ["fs.nope"] } },
])("%j is a TypeError", (options) => {
  expect(() => open(options)).toThrow(TypeError);
});

test("size limits can be read in advance", async () => {
  await using octant = open({ tools: ["ws", "fs"] });
  const { limits } = await octant.client.ws.capabilities({});
  truncateSync(join(base, "README.md"), limits["max_edit_bytes"]! + 1);
  const patch = [{ op: "insert", line: 0, text: "x\n" } as const];
  await expect(
    octant.client.fs.apply_patch({ uri: "README.md", base_hash: `sha256:${"0".repeat(64)}`, patch }),
  ).rejects.toMatchObject({ code: "TOO_LARGE", details: { limit: limits["max_edit_bytes"] } });
});

test("a mode applies to every call", async () => {
  await using octant = open({ mode: "inspect" });
  await expect(octant.client.fs.mkdir({ uri: "x" })).rejects.toMatchObject({ code: "PERMISSION_DENIED" });
});

test("a bug is logged in full and reported to the caller as INTERNAL", async () => {
  const lines: string[] = [];
  await using octant = open({ log: (line) => lines.push(line) });
  await expect(octant.client.greeter.fail({})).rejects.toMatchObject({ code: "INTERNAL" });
  expect(lines.join()).toMatch(/greeter\.fail.*trace_id.*Error: the bug/);
});

test("the audit log has the answer that named a job and, later, its outcome", async () => {
  await using octant = open();
  const { jobs, state } = octant.workspace;
  const caller = { id: "me", access: "admin" } as const;
  const exec = async (command: string) => {
    const call = { tool: "proc", action: "exec", input: { command } };
    const { envelope } = await octant.dispatch(call, { caller, timingHint: "fire_and_forget" });
    return { job: envelope.meta.job_id ?? "", trace: envelope.meta.trace_id };
  };
  const done = await exec("true");
  await jobs.ended(caller.id, done.job, 10_000, new AbortController().signal);
  const cancelled = await exec("sleep 60");
  await jobs.cancel(caller.id, cancelled.job);
  await octant.close();
  const records = await readAudit(state.folder("audit"));
  for (const { job, trace } of [done, cancelled]) {
    const code = job === done.job ? "OK" : "CANCELLED";
    const facts = { caller: "me", action: "proc.exec", trace, job, duration: expect.any(Number) };
    expect(records.filter((record) => "job" in record && record.job === job)).toMatchObject([
      { kind: "call", code: "OK", ...facts },
      { kind: "job", code, ...facts },
    ]);
  }
});

test("a cursor is valid in another process of the same workspace", async () => {
  await using one = open();
  await using two = open();
  const caller = { id: "me", access: "read" } as const;
  const list = (octant: typeof one, cursor?: string) =>
    octant.dispatch({ tool: "fs", action: "list", input: { limit: 1, cursor } }, { caller });
  writeFileSync(join(base, "z.txt"), "");
  const { envelope } = await list(one);
  expect(await list(two, envelope.meta.paging.cursor ?? "")).toMatchObject({ envelope: { ok: true } });
});

test("a tool added at run time is announced and listed to an MCP client", async () => {
  await using octant = open();
  const input = new PassThrough();
  const output = new PassThrough();
  const server = octant.serveStdio({ input, output });
  const lines = createInterface({ input: output })[Symbol.asyncIterator]();
  const next = async () => JSON.parse(String((await lines.next()).value));
  const send = (message: object) => input.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  const clientInfo = { name: "test", version: "1" };
  send({
    id: 1,
    method: "initialize",
    params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo },
  });
  expect(await next()).toMatchObject({ result: { serverInfo: { name: "octant" } } });
  send({ method: "notifications/initialized" });
  octant.removeTool("greeter");
  expect(await next()).toMatchObject({ method: "notifications/tools/list_changed" });
  send({ id: 2, method: "tools/list" });
  const { result } = await next();
  expect(result.tools.map(({ name }: { name: string }) => name)).toEqual([
    ...["ws", "fs", "code", "proc", "test", "vcs", "net", "ui", "search", "job"],
  ]);
  octant.addTool(greeter);
  expect(await next()).toMatchObject({ method: "notifications/tools/list_changed" });
  await server.close();
});

test("calls, jobs, processes and tools are topics that a console can follow from the beginning", async () => {
  await using octant = open();
  const { topics, client } = octant;
  await client.greeter.greet({ name: "world" });
  await expect(client.greeter.fail({})).rejects.toThrow();
  octant.removeTool("greeter");
  const { proc_id } = await client.proc.exec({ command: [process.execPath, "-e", "0"] });
  const values = (topic: string) =>
    topics
      .get(topic)
      ?.events.read(0)
      .events.map(({ value }) => value) ?? [];
  expect(values("calls").slice(0, 4)).toMatchObject([
    { type: "started", tool: "greeter", action: "greet", caller: "local" },
    { type: "ended", action: "greet", code: "OK" },
    { type: "started", action: "fail" },
    { type: "ended", action: "fail", code: "INTERNAL" },
  ]);
  expect(values("tools").at(-1)).toEqual({ type: "removed", tool: "greeter" });
  expect(values("jobs")).toMatchObject([{ type: "start", owner: "local" }, { type: "end" }]);
  expect(values("processes").at(0)).toMatchObject({ type: "started", proc_id, owner: "local" });
  expect(values("processes").at(-1)).toMatchObject({ type: "ended", proc_id });
});

test("a tool serves refs of its own scheme, which fs.read reads by range for their owner only", async () => {
  await using octant = open();
  const { client } = octant;
  const ref = `note:${newHandle("note", Date.now())}`;
  const owned = new Map([[`local ${ref}`, "first\nsecond\n"]]);
  octant.addTool({
    ...greeter,
    name: "notes",
    refs: {
      note(asked, owner) {
        const text = owned.get(`${owner} ${asked}`);
        if (text === undefined) throw new ToolError("NOT_FOUND", `there is no ${asked}`, { id: asked });
        return Buffer.from(text);
      },
    },
  });
  const range = { start: { line: 1 }, end: { line: 2 } };
  expect(await client.fs.read({ uri: ref, range })).toMatchObject({ uri: ref, text: "second\n" });
  const other = { caller: { id: "other", access: "admin" } } as const;
  await expect(client.fs.read({ uri: ref }, other)).rejects.toThrow("there is no note");
  octant.removeTool("notes");
  await expect(client.fs.read({ uri: ref })).rejects.toThrow("no tool here serves");
});
