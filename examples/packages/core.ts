import { randomBytes } from "node:crypto";
import { action, createCursors, createDispatcher, createRegistry, defineTool } from "@octant/core";
import { z } from "zod";

const add = action({
  summary: "Add two numbers.",
  access: "read",
  timing: "sync",
  intent: "inspect",
  input: z.strictObject({ a: z.number(), b: z.number() }),
  output: z.object({ sum: z.number() }),
  examples: [{ title: "Two and three", input: { a: 2, b: 3 } }],
  run: ({ a, b }) => ({ sum: a + b }),
});
const registry = createRegistry([defineTool({ name: "math", summary: "Calculate.", actions: { add } })]);
const dispatch = createDispatcher({
  registry,
  cursors: createCursors(randomBytes(32)),
  onBug: console.error,
});
const call = { tool: "math", action: "add", input: { a: 2, b: 3 } };
const { envelope } = await dispatch(call, { caller: { id: "me", access: "read" } });
console.log(envelope.ok, envelope.data);
