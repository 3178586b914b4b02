import type { Envelope } from "@octant/core";
import { expect, test } from "vitest";
import { encodeCallToolResult, toCallToolResult, toResultFor } from "../answer.ts";
import { createDemo } from "../fixtures/demo.ts";
import { connectInProcess } from "../fixtures/in-process.ts";
import { toTextAnswer } from "./text-answer.ts";

const meta = { tool: "proc", action: "exec", trace_id: "t1", paging: { cursor: null, more: false } };
const done = (data: unknown, over: object = {}): Envelope => ({
  ok: true,
  data,
  error: null,
  meta: { ...meta, ...over },
});

test("the payload comes as it is, then the rest as JSON, then one line about the call", () => {
  const data = { exit_code: 0, stdout: 'a "b"\n', stderr: "warned\n", ref: undefined };
  expect(toTextAnswer(done(data))).toBe('a "b"\n\n[stderr]\nwarned\n\n{"exit_code":0}\n[proc.exec]');
});

test("without a payload there is the data, and without data only the line", () => {
  expect(toTextAnswer(done({ stdout: "", files: [] }))).toBe('{"stdout":"","files":[]}\n[proc.exec]');
  expect(toTextAnswer(done(null))).toBe("[proc.exec]");
  expect(toTextAnswer(done([1]))).toBe("[1]\n[proc.exec]");
});

test("the line tells what a reader needs to go on", () => {
  const over = { backend: "ripgrep", job_id: "job_1", paging: { cursor: "c1", more: true } };
  expect(toTextAnswer(done({}, over))).toBe("[proc.exec; by ripgrep; job job_1; more: cursor c1]");
});

test("a failure is its code, its message and its details", () => {
  const error = {
    code: "NOT_FOUND",
    message: "there is no file; look elsewhere",
    details: { uri: "file:///x" },
  } as const;
  expect(toTextAnswer({ ok: false, data: null, error, meta })).toBe(
    'NOT_FOUND: there is no file; look elsewhere\n{"uri":"file:///x"}\n[proc.exec; trace t1]',
  );
});

test("pictures stay content blocks, and no structured content hides the text", () => {
  const toResult = toResultFor("text");
  const picture = { kind: "image", mime: "image/png", bytes: new Uint8Array([1, 2]) } as const;
  const reply = { envelope: done({ text: "see" }), attachments: [picture], ...(toResult && { toResult }) };
  expect(toCallToolResult(reply)).toEqual({
    content: [
      { type: "text", text: "see\n[proc.exec]" },
      { type: "image", data: "AQI=", mimeType: "image/png" },
    ],
    isError: false,
  });
  expect(encodeCallToolResult(reply, ',"x":1')).toBe(
    `${JSON.stringify(toCallToolResult(reply)).slice(0, -1)},"x":1}`,
  );
});

test.each(["legacy", "auto"] as const)(
  "the official client takes text answers, of calls that succeed and that fail (%s)",
  async (mode) => {
    const options = { ...createDemo().options, answers: "text" } as const;
    const { client, close } = await connectInProcess(options, { versionNegotiation: { mode } });
    const { tools } = await client.listTools();
    expect(tools[0]).not.toHaveProperty("outputSchema");
    const call = (args: object) => client.callTool({ name: "demo", arguments: { ...args } });
    const echoed = await call({ action: "echo", text: "hello" });
    expect(echoed.content).toEqual([{ type: "text", text: "hello\n[demo.echo]" }]);
    expect(echoed.structuredContent).toBeUndefined();
    expect(await call({ action: "fail" })).toMatchObject({
      isError: true,
      content: [{ text: expect.stringMatching(/^NOT_FOUND: nothing is there/) }],
    });
    await close();
  },
);
