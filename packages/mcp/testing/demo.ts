import {
  action,
  createCursors,
  createDispatcher,
  createRegistry,
  defineTool,
  type Registry,
  ToolError,
} from "@octant/core";
import { z } from "zod";
import type { ServiceOptions } from "../src/service.ts";

const MAX_SIZE = 100_000_000;
const read = { access: "read", timing: "sync", intent: "inspect" } as const;
const example = [{ title: "One", input: {} }] as const;
const Empty = z.strictObject({});

/** A tool whose calls end when the test says so: `wait` ends with `go`, or with its cancellation. */
export function createDemo() {
  let go = () => {};
  let started = () => {};
  const waiting = { started: new Promise<void>((resolve) => (started = resolve)), cancelled: 0 };
  const registry: Registry = createRegistry([]);
  const extra = defineTool({ name: "extra", summary: "Came later.", actions: {} });

  registry.addTool(
    defineTool({
      name: "demo",
      summary: "Things to try.",
      actions: {
        echo: action({
          ...read,
          summary: "Gives back the text.",
          input: z.strictObject({ text: z.string() }),
          output: z.object({ text: z.string() }),
          examples: [{ title: "Hello", input: { text: "hello" } }],
          run: ({ text }) => ({ text }),
        }),
        fail: action({
          ...read,
          summary: "Fails.",
          input: Empty,
          output: Empty,
          examples: example,
          run() {
            throw new ToolError("NOT_FOUND", "nothing is there; look elsewhere", { uri: "file:///x" });
          },
        }),
        big: action({
          ...read,
          summary: "A long answer.",
          input: z.strictObject({ size: z.int().min(0).max(MAX_SIZE) }),
          output: z.object({ text: z.string() }),
          examples: [{ title: "Ten", input: { size: 10 } }],
          run: ({ size }) => ({ text: "é".repeat(size) }),
        }),
        picture: action({
          ...read,
          summary: "A picture.",
          input: Empty,
          output: Empty,
          examples: example,
          run(_input, ctx) {
            ctx.attach({ kind: "image", mime: "image/png", bytes: new Uint8Array([1, 2, 3]) });
            return {};
          },
        }),
        wait: action({
          ...read,
          summary: "Says that it is half done, and waits.",
          input: Empty,
          output: z.object({ gone: z.boolean() }),
          examples: example,
          run: async (_input, { signal, progress }) => {
            const { promise, resolve, reject } = Promise.withResolvers<void>();
            go = resolve;
            signal.addEventListener("abort", () => {
              waiting.cancelled++;
              reject(signal.reason);
            });
            progress({ progress: 1, total: 2, message: "half" });
            started();
            await promise;
            return { gone: true };
          },
        }),
        go: action({
          ...read,
          summary: "Ends a wait.",
          input: Empty,
          output: z.object({ cancelled: z.number() }),
          examples: example,
          run() {
            go();
            return { cancelled: waiting.cancelled };
          },
        }),
        grow: action({
          ...read,
          summary: "Adds a tool, or takes it away.",
          input: Empty,
          output: Empty,
          examples: example,
          run() {
            if (!registry.removeTool(extra.name)) registry.addTool(extra);
            return {};
          },
        }),
      },
    }),
  );
  const bugs: unknown[] = [];
  const log: string[] = [];
  const options: ServiceOptions = {
    registry,
    dispatch: createDispatcher({
      registry,
      cursors: createCursors(new Uint8Array(32)),
      onBug: (bug) => bugs.push(bug),
    }),
    name: "octant",
    version: "0.1.0",
    instructions: "Call demo first.",
    log: (line) => log.push(line),
  };
  return { options, registry, waiting, bugs, log };
}
