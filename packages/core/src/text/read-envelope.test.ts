import { expect, test } from "vitest";
import { z } from "zod";
import type { Envelope } from "../envelope.ts";
import { createRegistry } from "../registry.ts";
import { action, defineTool } from "../tool.ts";
import { createToText } from "./read-envelope.ts";

const say = {
  summary: "Say it.",
  access: "read",
  timing: "sync",
  intent: "inspect",
  input: z.strictObject({}),
  output: z.unknown(),
  examples: [{ title: "Hello", input: {} }],
  run: () => ({}),
} as const;

const toText = createToText(
  createRegistry([
    defineTool({
      name: "echo",
      summary: "Echoes.",
      actions: {
        plain: action(say),
        shown: action({
          ...say,
          output: z.object({ text: z.string(), hash: z.string() }),
          run: () => ({ text: "", hash: "" }),
          text: ({ text, hash }) => ({ body: text, notes: [text === "" && "empty"], handles: { hash } }),
        }),
      },
    }),
  ]),
  ["file:///work"],
);

const paging = { cursor: null, more: false };
const answer = (data: unknown, more: Partial<Envelope["meta"]> = {}, name = "plain"): string =>
  toText({
    ok: true,
    data,
    error: null,
    meta: { tool: "echo", action: name, trace_id: "t", paging, ...more },
  });

test("an action's own text is its body unchanged, and one last line with notes and handles", () => {
  expect(answer({ text: "a\n\tb\n", hash: "sha256:1" }, {}, "shown")).toBe("a\n\tb\n[hash 1]");
  expect(answer({ text: "", hash: "sha256:1" }, {}, "shown")).toBe("[empty; hash 1]");
});

test("qualifications of an answer are shown even where the action's text omits them", () => {
  const data = { text: "a", hash: "h", incomplete: "3 files were not parsed" };
  expect(answer(data, {}, "shown")).toBe("a\n[3 files were not parsed; hash h]");
});

test("a cursor and a running job are in the last line", () => {
  const more = { job_id: "job_1", paging: { cursor: "c1", more: true } };
  expect(answer({ text: "a", hash: "h" }, more, "shown")).toBe(
    "a\n[more follows; hash h; cursor c1; job job_1]",
  );
});

test("without a text of its own, data comes as short lines, its handles last, and nothing empty", () => {
  const data = {
    uri: "file:///work/src/a%20b.ts",
    hash: `sha256:${"0".repeat(64)}`,
    names: ["x", "y"],
    nothing: null,
    none: [],
    note: "one\ntwo",
  };
  expect(answer(data)).toBe(`uri: src/a b.ts\nnames: x, y\nnote:\none\ntwo\n[hash ${"0".repeat(12)}]`);
});

test("lines, positions and ranges are counted from 1 everywhere in one answer", () => {
  const range = { start: { line: 0, col: 4 }, end: { line: 2, col: 0 } };
  const results = [{ uri: "file:///work/a.ts", range, name: "a" }];
  expect(answer({ results })).toBe("a.ts:1:5  name: a");
  expect(answer({ range, at: { line: 9, col: 0 }, hunks: [{ line: 3, added: 1 }] })).toBe(
    "range: 1:5-3:1\nat: 10:1\nhunks:\n  line: 4  added: 1",
  );
});

test("paths outside the first root, and names that cannot be read back, stay URIs", () => {
  expect(answer({ uri: "file:///other/a" })).toBe("file:///other/a");
  expect(answer({ uri: "file:///work/a%0Ab" })).toBe("file:///work/a%0Ab");
  expect(answer({ uri: "file:///work/file:x" })).toBe("./file:x");
  expect(answer({ uri: "file:///work" })).toBe(".");
});

test("an error is its code, its message, and the details that the message does not say", () => {
  const error = {
    code: "CONFLICT",
    message: "a.ts has changed; read it again",
    details: { uri: "file:///work/a.ts", expected: "sha256:1", actual: "sha256:2", diff: "-a\n+b\n" },
  } as const;
  const meta = { tool: "echo", action: "plain", trace_id: "t", paging };
  expect(toText({ ok: false, data: null, error, meta })).toBe(
    "CONFLICT: a.ts has changed; read it again\nexpected: sha256:1\nactual: sha256:2\ndiff:\n-a\n+b",
  );
});

test("an error names the root by its URI and other files by their paths", () => {
  const message = "file:///work/a.ts is outside the workspace; it has file:///work, file:///other";
  const details = { roots: ["file:///work", "file:///other"] };
  const meta = { tool: "echo", action: "plain", trace_id: "t", paging };
  const error = { code: "OUTSIDE_WORKSPACE", message, details } as const;
  expect(toText({ ok: false, data: null, error, meta })).toBe(
    "OUTSIDE_WORKSPACE: a.ts is outside the workspace; it has file:///work, file:///other",
  );
});

test("a job that was only started says so, whatever the action's own text reads", () => {
  const data = { job_id: "job_1", state: "running", note: "still at work" };
  expect(answer(data, { job_id: "job_1" }, "shown")).toContain("still at work");
});
