import { ANSWER_BYTES, action, Range, Uri } from "@octant/core";
import { pathToUri } from "@octant/host";
import { z } from "zod";
import { INSPECT } from "../kinds.ts";
import { type Code, firstAnswer } from "./code.ts";
import { SPOT_ERRORS, SpotInput, toSpot } from "./spot.ts";

export const hover = (code: Code) =>
  action({
    summary: "Show a symbol's signature or type, and its documentation.",
    ...INSPECT,
    input: z.strictObject(SpotInput),
    output: z.object({
      uri: Uri,
      text: z.string().nullable().describe("Markdown; null when unknown"),
      range: Range.optional(),
    }),
    errors: [...SPOT_ERRORS, "EXEC_FAILED", "TIMEOUT"],
    examples: [
      { title: "Show type and docs", input: { uri: "src/main.ts", position: { line: 0, col: 13 } } },
    ],
    text: ({ text }, { backend }) => ({
      body: text ?? "no information about this position",
      notes: [backend && `by ${backend}`],
    }),
    async run(input, ctx) {
      const spot = await toSpot(code, input);
      const found = await firstAnswer(code, spot.path, ctx, ({ hover: ask }) => ask?.(spot, ctx.signal));
      const text = found ? found.text.slice(0, ANSWER_BYTES).toWellFormed() : null;
      return { uri: pathToUri(spot.path), text, ...(found?.range && { range: found.range }) };
    },
  });
