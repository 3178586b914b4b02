import { ANSWER_BYTES, action, Range, Uri } from "@octant/core";
import { pathToUri } from "@octant/host";
import { z } from "zod";
import { INSPECT } from "../kinds.ts";
import type { CodeBackend } from "./backend.ts";
import { type Code, firstAnswer } from "./code.ts";
import { LIST_ERRORS, Paging, pageOfRanks } from "./paging.ts";
import { POSITION_ERRORS, PositionInput, toPosition } from "./position-input.ts";
import { ByName, noteByName } from "./unsearched.ts";

export const hover = (code: Code) =>
  action({
    summary: "Show a symbol's signature or type, and its documentation.",
    ...INSPECT,
    input: z.strictObject(PositionInput),
    output: z.object({
      uri: Uri,
      text: z.string().nullable().describe("Markdown; null when unknown"),
      range: Range.optional(),
      note: ByName,
    }),
    errors: [...POSITION_ERRORS, "EXEC_FAILED", "TIMEOUT"],
    examples: [
      { title: "Show type and docs", input: { uri: "src/main.ts", position: { line: 0, col: 13 } } },
    ],
    text: ({ text, note }, { backend }) => ({
      body: text ?? "no information about this position",
      notes: [note, backend && `by ${backend}`],
    }),
    async run(input, ctx) {
      const spot = await toPosition(code, input);
      const ask = ({ hover: asked }: CodeBackend) => asked?.(spot, ctx.signal);
      const answered = await firstAnswer(code, spot.path, ctx, ask, { isEmpty: (found) => found === null });
      const { answer: found } = answered;
      const text = found ? found.text.slice(0, ANSWER_BYTES).toWellFormed() : null;
      return {
        uri: pathToUri(spot.path),
        text,
        ...(found?.range && { range: found.range }),
        ...(found && (await noteByName(code, spot.path, answered))),
      };
    },
  });

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
    input: z.strictObject({ ...PositionInput, ...Paging }),
    output: z.object({ results: z.array(Completion), total: z.int(), note: ByName }),
    errors: LIST_ERRORS,
    examples: [
      {
        title: "Complete at a position",
        input: { uri: "src/main.ts", position: { line: 0, col: 22 }, limit: 5 },
      },
    ],
    text({ results, total, note }, { backend }) {
      const lines = results.map(({ label, kind, detail, insert }) => {
        const inserts = insert !== undefined && `inserts ${JSON.stringify(insert)}`;
        const about = [kind, detail, inserts].filter(Boolean);
        return about.length > 0 ? `${label}  (${about.join("; ")})` : label;
      });
      const shown = total > results.length && `${results.length} of ${total}`;
      return { body: lines.join("\n") || "no completions", notes: [shown, note, backend && `by ${backend}`] };
    },
    async run({ limit, cursor: _cursor, ...input }, ctx) {
      const spot = await toPosition(code, input);
      const ask = ({ completion: asked }: CodeBackend) => asked?.(spot, ctx.signal);
      const hasPrefix = code.sources.nameAt(spot) !== undefined;
      const isEmpty = (found: readonly unknown[]) => found.length === 0 && hasPrefix;
      const answered = await firstAnswer<readonly z.input<typeof Completion>[]>(code, spot.path, ctx, ask, {
        isEmpty,
      });
      const { answer: found } = answered;
      const results = await pageOfRanks(found ?? [], limit, ctx, (one) => one);
      return { results, total: found?.length ?? 0, ...(await noteByName(code, spot.path, answered)) };
    },
  });
