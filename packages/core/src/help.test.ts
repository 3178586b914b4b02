import { expect, test } from "vitest";
import { z } from "zod";
import { renderAction } from "./help.ts";
import { action } from "./tool.ts";

const Place = z.strictObject({ line: z.int(), col: z.int().default(0) });
const mark = action({
  summary: "Marks places.",
  access: "write",
  timing: "sync",
  intent: "apply",
  input: z.strictObject({
    at: Place.optional().describe("Where to begin"),
    edits: z.array(
      z.discriminatedUnion("op", [
        z.strictObject({ op: z.literal("set"), at: Place }),
        z.strictObject({ op: z.literal("clear") }),
      ]),
    ),
    names: z.array(z.string()).default([]),
  }),
  output: z.null(),
  examples: [{ title: "Nothing", input: { edits: [] } }],
  run: () => null,
});

test("the manual describes the contents of objects, and each of their variants", () => {
  const lines = renderAction("pen", "mark", mark).split("\n");
  expect(lines).toContain("| `at?` | object | Where to begin `{line,col?}` |");
  expect(lines).toContain('| `edits` | list of object | `[{op:"set",at:{line,col?}}\\|{op:"clear"}]` |');
  expect(lines).toContain("| `names?` | list of string | (default []) |");
});
