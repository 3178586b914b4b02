import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  action,
  createCursors,
  createDispatcher,
  createRegistry,
  defineTool,
  type QuestionBody,
  type StreamChunk,
  ToolError,
} from "@octant/core";
import { z } from "zod";

/** A tool with one action of each kind that a wire treats differently. */
export function createFixture() {
  const calls: unknown[] = [];
  const waiting = Promise.withResolvers<void>();
  const release = Promise.withResolvers<void>();
  const declare = { access: "read", timing: "sync", intent: "inspect" } as const;
  const demo = defineTool({
    name: "demo",
    summary: "For tests.",
    actions: {
      echo: action({
        ...declare,
        summary: "Return the input.",
        input: z.strictObject({ value: z.unknown() }),
        output: z.object({ value: z.unknown() }),
        examples: [{ title: "One", input: { value: 1 } }],
        text: ({ value }) => ({ body: `echo of ${JSON.stringify(value)}` }),
        run: ({ value }) => {
          calls.push(value);
          return { value };
        },
      }),
      change: action({
        ...declare,
        access: "write",
        intent: "apply",
        summary: "Change something.",
        input: z.strictObject({}),
        output: z.object({}),
        examples: [{ title: "Once", input: {} }],
        run: () => {
          calls.push("change");
          return {};
        },
      }),
      fail: action({
        ...declare,
        summary: "Fail.",
        input: z.strictObject({}),
        output: z.object({}),
        errors: ["NOT_FOUND"],
        examples: [{ title: "Always", input: {}, fails: "NOT_FOUND" }],
        run: () => {
          throw new ToolError("NOT_FOUND", "there is nothing", { id: "x" });
        },
      }),
      steps: action({
        ...declare,
        summary: "Report progress.",
        input: z.strictObject({ count: z.int() }),
        output: z.object({ done: z.int() }),
        examples: [{ title: "Three", input: { count: 3 } }],
        run({ count }, ctx) {
          for (let n = 1; n <= count; n++) ctx.progress({ progress: n, total: count });
          return { done: count };
        },
      }),
      say: action({
        ...declare,
        summary: "Emit one chunk of each kind.",
        input: z.strictObject({}),
        output: z.object({}),
        examples: [{ title: "Once", input: {} }],
        run(_, ctx) {
          for (const chunk of CHUNKS) ctx.emit(chunk);
          return {};
        },
      }),
      flood: action({
        ...declare,
        summary: "Emit many chunks at once, then wait if asked to.",
        input: z.strictObject({ chunks: z.int(), bytes: z.int(), wait: z.boolean().default(false) }),
        output: z.object({}),
        examples: [{ title: "Ten", input: { chunks: 10, bytes: 10 } }],
        async run({ chunks, bytes, wait }, ctx) {
          for (let n = 0; n < chunks; n++) ctx.emit({ kind: "text", text: `${n} ${"x".repeat(bytes)}` });
          if (wait) await release.promise;
          return {};
        },
      }),
      ask: action({
        ...declare,
        summary: "Ask the person behind the caller.",
        input: z.strictObject({}),
        output: z.object({ answer: z.unknown() }),
        examples: [{ title: "Once", input: {} }],
        async run(_, ctx) {
          const answer = await ctx.ask(QUESTION);
          return { answer };
        },
      }),
      slow: action({
        ...declare,
        timing: "async_medium",
        summary: "Take a while.",
        input: z.strictObject({}),
        output: z.object({}),
        examples: [{ title: "Once", input: {} }],
        run: () => ({}),
      }),
      hang: action({
        ...declare,
        summary: "Wait until it is released or cancelled.",
        input: z.strictObject({}),
        output: z.object({}),
        examples: [{ title: "Wait", input: {} }],
        async run(_, { signal }) {
          calls.push("hang");
          waiting.resolve();
          const cancelled = Promise.withResolvers<never>();
          signal.addEventListener("abort", () => {
            calls.push("cancelled");
            cancelled.reject(signal.reason);
          });
          await Promise.race([release.promise, cancelled.promise]);
          return {};
        },
      }),
      bytes: action({
        ...declare,
        summary: "Send bytes beside the answer.",
        input: z.strictObject({ size: z.int(), chunk: z.int().default(CHUNK_BYTES) }),
        output: z.object({ size: z.int() }),
        examples: [{ title: "Few", input: { size: 3 } }],
        run({ size, chunk }, ctx) {
          calls.push("bytes");
          ctx.send({ mime: "application/octet-stream", size, read: () => numbered(size, chunk) });
          return { size };
        },
      }),
      take: action({
        ...declare,
        summary: "Count the bytes that come with the call.",
        input: z.strictObject({}),
        output: z.object({ bytes: z.int(), sum: z.int() }),
        examples: [{ title: "None", input: {} }],
        async run(_, { upload }) {
          let bytes = 0;
          let sum = 0;
          for await (const chunk of upload?.read() ?? []) {
            bytes += chunk.length;
            for (const byte of chunk) sum += byte;
          }
          return { bytes, sum };
        },
      }),
    },
  });
  const registry = createRegistry([demo]);
  const bugs: unknown[] = [];
  const dispatch = createDispatcher({
    registry,
    cursors: createCursors(new Uint8Array(32)),
    onBug: ({ cause }) => bugs.push(cause),
  });
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "octant-wire-")));
  return {
    registry,
    dispatch,
    caller: { id: "local", access: "admin" } as const,
    name: "demo",
    version: "1",
    log: () => {},
    /** In a folder of mode 0700. */
    address: `ipc://${folder}/s`,
    folder,
    calls,
    bugs,
    waiting: waiting.promise,
    release: release.resolve,
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** The question of demo.ask. */
export const QUESTION: QuestionBody = {
  kind: "form",
  message: "Really?",
  schema: { type: "object", properties: { sure: { type: "boolean" } }, required: ["sure"] },
};

/** The chunks of demo.say. */
export const CHUNKS: readonly StreamChunk[] = [
  { kind: "progress", progress: 1, total: 2 },
  { kind: "log", line: "a line" },
  { kind: "text", text: "some text" },
  { kind: "binary", bytes: Buffer.from([0, 255]) },
];

export const CHUNK_BYTES = 256 * 1024;

/** Chunks whose bytes encode their offset. */
export async function* numbered(size: number, chunk = CHUNK_BYTES): AsyncIterable<Uint8Array> {
  for (let at = 0; at < size; at += chunk) yield Buffer.alloc(Math.min(chunk, size - at), (at / chunk) % 251);
}
