import {
  action,
  createCursors,
  createDispatcher,
  createRegistry,
  defineTool,
  type Mode,
  type QuestionAnswer,
} from "@octant/core";
import { checkPermission, createPolicy, SessionAnswers } from "@octant/runtime";
import { expect, test } from "vitest";
import { z } from "zod";
import { textOf } from "../messages.ts";
import type { ToolExecutor } from "../tool-executor.ts";
import { createDispatchExecutor, type DispatchExecutorOptions } from "./dispatch-executor.ts";

const HASH = `sha256:${"0".repeat(64)}`;
const problems: Record<string, string[]> = {};

const common = { timing: "sync", examples: [{ title: "One", input: { uri: "a.ts" } }] } as const;
const fs = defineTool({
  name: "fs",
  summary: "Files.",
  actions: {
    read: action({
      ...common,
      summary: "Read.",
      access: "read",
      intent: "inspect",
      input: z.strictObject({ uri: z.string() }),
      output: z.object({ uri: z.string(), text: z.string(), hash: z.string() }),
      run: ({ uri }, ctx) => {
        ctx.attach({ kind: "image", mime: "image/png", bytes: Uint8Array.of(1, 2, 3) });
        return { uri: `file:///p/${uri}`, text: "content", hash: HASH };
      },
    }),
    write: action({
      ...common,
      summary: "Write.",
      access: "write",
      intent: "apply",
      input: z.strictObject({ uri: z.string() }),
      output: z.object({ files: z.array(z.object({ uri: z.string(), hash: z.string() })), undo: z.string() }),
      run: ({ uri }) => ({ files: [{ uri: `file:///p/${uri}`, hash: HASH }], undo: "blob:1" }),
    }),
  },
});
const code = defineTool({
  name: "code",
  summary: "Code.",
  actions: {
    diagnostics: action({
      ...common,
      summary: "Problems.",
      access: "read",
      intent: "inspect",
      input: z.strictObject({ uri: z.string() }),
      output: z.object({ results: z.array(z.string()), total: z.int() }),
      run: ({ uri }) => ({ results: problems[uri] ?? [], total: problems[uri]?.length ?? 0 }),
    }),
  },
});

function setUp(more: Partial<DispatchExecutorOptions> = {}) {
  const registry = createRegistry([fs, code]);
  const places = { roots: ["/p"] };
  const dispatch = createDispatcher({
    registry,
    cursors: createCursors(new Uint8Array(32)),
    policy: [
      checkPermission({
        policy: createPolicy([], places),
        permissions: "enforce",
        session: new SessionAnswers(places),
      }),
    ],
    onBug: ({ cause }) => {
      throw cause;
    },
  });
  return {
    registry,
    tools: createDispatchExecutor({ host: { dispatch, registry, roots: ["file:///p"] }, ...more }),
  };
}

const run = (
  tools: ToolExecutor,
  input: Readonly<Record<string, unknown>>,
  answer: QuestionAnswer = { answer: "once" },
) =>
  tools.execute(
    { id: "c1", name: "fs", input },
    {
      sessionId: "ses_1",
      signal: new AbortController().signal,
      ask: async () => answer,
      onProgress: () => {},
    },
  );

test("a call becomes text, pictures and facts", async () => {
  const { tools } = setUp();
  const result = await run(tools, { action: "read", uri: "a.ts" });
  expect(result).toMatchObject({
    is_error: false,
    content: [{ type: "text" }, { type: "image", mime: "image/png", data: "AQID" }],
    facts: { read: [{ path: "file:///p/a.ts", hash: HASH }] },
  });
  expect(textOf(result.content)).toContain("content");
  expect(await run(tools, { action: "write", uri: "a.ts" })).toMatchObject({
    facts: { changed: [{ path: "file:///p/a.ts", hash: HASH }], undo_ref: "blob:1" },
  });
});

test("the policy asks the front end of the call, and a denial is reported to the model", async () => {
  const { tools } = setUp();
  const [yes, no] = await Promise.all([
    run(tools, { action: "write", uri: "a.ts" }, { answer: "once" }),
    run(tools, { action: "write", uri: "b.ts" }, { answer: "deny", reason: "not that one" }),
  ]);
  expect(yes.is_error).toBe(false);
  expect(no).toMatchObject({ is_error: true, code: "PERMISSION_DENIED" });
  expect(textOf(no.content)).toContain("not that one");
});

test("mode and access are checked for every call, and do not change the list of tools", async () => {
  let mode: Mode | undefined = "inspect";
  const { tools } = setUp({ mode: () => mode, allows: (_tool, name) => name !== "read" });
  const offered = JSON.stringify(tools.definitions());
  expect(await run(tools, { action: "write", uri: "a.ts" })).toMatchObject({ code: "PERMISSION_DENIED" });
  mode = undefined;
  expect(await run(tools, { action: "write", uri: "a.ts" })).toMatchObject({ is_error: false });
  expect(textOf((await run(tools, { action: "read", uri: "a.ts" })).content)).toContain(
    "was not given fs.read",
  );
  expect(JSON.stringify(tools.definitions())).toBe(offered);
});

test("a new tool is appended, and a removed one keeps its position", () => {
  const { registry, tools } = setUp();
  const names = () => tools.definitions().map(({ name }) => name);
  expect(names()).toEqual(["fs", "code"]);
  registry.addTool({ ...fs, name: "another" });
  registry.removeTool("fs");
  expect(names()).toEqual(["fs", "code", "another"]);
});

test("problems in changed files are reported once per state", async () => {
  const { tools } = setUp();
  const changed = [{ path: "file:///p/a.ts", hash: HASH }];
  const news = () => tools.afterEdits?.(changed, new AbortController().signal);
  problems["file:///p/a.ts"] = [];
  expect(await news()).toBeUndefined();
  problems["file:///p/a.ts"] = ["';' expected"];
  expect(await news()).toMatch(/^Diagnostics of the files that were just changed:\n[\s\S]*';' expected/);
  expect(await news()).toBeUndefined();
  problems["file:///p/a.ts"] = ["another problem"];
  expect(await news()).toContain("another problem");
});

test("reading calls may run in parallel, and titles describe a call", () => {
  const { tools } = setUp();
  expect(tools.outline({ id: "1", name: "fs", input: { action: "read", uri: "a.ts" } })).toEqual({
    title: "fs.read a.ts",
    kind: "read",
    reads_only: true,
    paths: ["a.ts"],
  });
  expect(tools.outline({ id: "1", name: "fs", input: { action: "write", uri: "a.ts" } })).toMatchObject({
    kind: "edit",
    reads_only: false,
  });
});
