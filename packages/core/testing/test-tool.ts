import { z } from "zod";
import { createDispatcher, type DispatcherOptions } from "../src/dispatch.ts";
import { ToolError } from "../src/errors.ts";
import { createCursors, pagingInput } from "../src/paging.ts";
import { createRegistry } from "../src/registry.ts";
import { action, type Caller, defineTool } from "../src/tool.ts";

/** A small tool with one action of each kind that the dispatcher treats differently. */
export const box = defineTool({
  name: "box",
  summary: "Things in a box.",
  version: "1.2.3",
  backends: () => [{ name: "wood", available: true, version: "7" }],
  actions: {
    get: action({
      summary: "Look at one thing.",
      access: "read",
      timing: "sync",
      intent: "inspect",
      input: z.strictObject({ id: z.int(), how: z.enum(["near", "far"]).default("near") }),
      output: z.object({ id: z.int(), how: z.string() }),
      errors: ["NOT_FOUND"],
      examples: [{ title: "The first", input: { id: 1 } }],
      run({ id, how }, ctx) {
        if (id < 0) throw new ToolError("NOT_FOUND", `there is no thing ${id}`, { id: String(id) });
        ctx.backend("wood");
        return { id, how };
      },
    }),
    list: action({
      summary: "All things, page by page.",
      access: "read",
      timing: "sync",
      intent: "inspect",
      input: z.strictObject({ size: z.int().default(10), ...pagingInput(3, 100) }),
      output: z.object({ things: z.array(z.int()) }),
      examples: [{ title: "The first page", input: {} }],
      run({ size, limit }, ctx) {
        const from = ctx.resume(z.int()) ?? 0;
        const things = Array.from({ length: Math.min(limit, size - from) }, (_, i) => from + i);
        if (from + things.length < size) ctx.more(from + things.length);
        return { things };
      },
    }),
    put: action({
      summary: "Put a thing in.",
      access: "write",
      timing: "sync",
      intent: "apply",
      input: z.strictObject({}),
      output: z.object({}),
      examples: [{ title: "Anything", input: {} }],
      run: () => ({}),
    }),
    burn: action({
      summary: "Fail unexpectedly.",
      access: "admin",
      target: "global",
      timing: "sync",
      intent: "ship",
      input: z.strictObject({ how: z.enum(["throw", "wrong_output", "wait"]) }),
      output: z.object({ done: z.literal(true) }),
      examples: [{ title: "Throw", input: { how: "throw" } }],
      async run({ how }, { signal, progress }) {
        const cancelled = new Promise((_, fail) =>
          signal.addEventListener("abort", () => fail(signal.reason)),
        );
        progress({ progress: 1, total: 2, message: "burning" });
        if (how === "throw") throw new TypeError("secret detail");
        if (how === "wait") await cancelled;
        return { done: false as unknown as true };
      },
    }),
  },
});

export const admin: Caller = { id: "test", access: "admin" };

export function createBox(options: Partial<DispatcherOptions> = {}) {
  const bugs: unknown[] = [];
  const registry = createRegistry([box]);
  const cursors = createCursors(Buffer.from("test secret"));
  const dispatch = createDispatcher({ registry, cursors, onBug: (bug) => bugs.push(bug), ...options });
  const call = async (action: unknown, input: unknown = {}, caller = admin) =>
    (await dispatch({ tool: "box", action, input }, { caller })).envelope;
  return { registry, dispatch, call, bugs };
}
