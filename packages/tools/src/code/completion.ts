import { action } from "@octant/core";
import { z } from "zod";
import { INSPECT } from "../kinds.ts";
import { type Code, firstAnswer } from "./code.ts";
import { LIST_ERRORS, Paging, pageOfRanks } from "./page.ts";
import { SpotInput, toSpot } from "./spot.ts";

const Completion = z.object({
  label: z.string(),
  kind: z.string().optional(),
  detail: z.string().optional(),
  insert: z.string().optional().describe("Text to insert, when it differs from the label"),
});

export const completion = (code: Code) =>
  action({
    summary: "List completions at a position, most likely first.",
    ...INSPECT,
    input: z.strictObject({ ...SpotInput, ...Paging }),
    output: z.object({ results: z.array(Completion), total: z.int() }),
    errors: LIST_ERRORS,
    examples: [
      {
        title: "Complete at a position",
        input: { uri: "src/main.ts", position: { line: 0, col: 22 }, limit: 5 },
      },
    ],
    text({ results, total }, { backend }) {
      const lines = results.map(({ label, kind, detail, insert }) => {
        const inserts = insert !== undefined && `inserts ${JSON.stringify(insert)}`;
        const about = [kind, detail, inserts].filter(Boolean);
        return about.length > 0 ? `${label}  (${about.join("; ")})` : label;
      });
      const shown = total > results.length && `${results.length} of ${total}`;
      return { body: lines.join("\n") || "no completions", notes: [shown, backend && `by ${backend}`] };
    },
    async run({ limit, cursor: _cursor, ...input }, ctx) {
      const spot = await toSpot(code, input);
      const found = await firstAnswer(code, spot.path, ctx, ({ completion: ask }) => ask?.(spot, ctx.signal));
      const results = await pageOfRanks(found ?? [], limit, ctx, (one) => one);
      return { results, total: found?.length ?? 0 };
    },
  });
