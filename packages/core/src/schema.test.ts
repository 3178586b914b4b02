import { expect, test } from "vitest";
import { z } from "zod";
import { withoutDefaults } from "./schema.ts";
import { action } from "./tool.ts";

const run = action({
  summary: "Run a command.",
  access: "write",
  timing: "sync",
  intent: "apply",
  input: z.strictObject({
    command: z.string(),
    env: z.record(z.string(), z.string()).default({}),
    wait: z.number().default(45_000),
    cwd: z.string().optional(),
  }),
  output: z.strictObject({}),
  examples: [{ title: "List files", input: { command: "ls" } }],
  run: async () => ({}),
});

test("the arguments that a caller chose are those that differ from the defaults", () => {
  expect(withoutDefaults(run, { command: "ls", env: {}, wait: 45_000 })).toEqual({ command: "ls" });
  expect(withoutDefaults(run, { command: "ls", env: { A: "1" }, wait: 9, cwd: "a" })).toEqual({
    command: "ls",
    env: { A: "1" },
    wait: 9,
    cwd: "a",
  });
});
