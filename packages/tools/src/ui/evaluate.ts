import { ANSWER_BYTES, ANSWER_MARGIN_BYTES, action, Ref } from "@octant/core";
import { PageAnswer, toRef } from "@octant/host";
import { z } from "zod";
import { act, PAGE_ERRORS, pageText, type UiOptions } from "./acting.ts";
import { PageProfile, Target, timeout } from "./inputs.ts";

const MAX_SCRIPT_CHARS = 100_000;
const PAGE_BYTES = 4_096;

export const evaluate = (options: UiOptions) =>
  action({
    summary: "Run JavaScript in the page: an expression, or a function that gets the target element.",
    access: "write",
    timing: "async_short",
    intent: "verify",
    openWorld: true,
    destructive: true,
    input: z.strictObject({
      script: z.string().min(1).max(MAX_SCRIPT_CHARS).describe("JavaScript"),
      target: Target.optional(),
      timeout,
      profile: PageProfile,
    }),
    output: PageAnswer.extend({
      result: z.json().describe("The result as JSON"),
      ref: Ref.optional().describe(
        "The whole result, when it does not fit; `result` then has its beginning as text",
      ),
    }),
    errors: PAGE_ERRORS,
    examples: [{ title: "Read a value", input: { script: "document.title" }, fails: "NOT_FOUND" }],
    async run({ script, target, timeout: timeoutMs, profile }, ctx) {
      const { page, value } = await act(options, { profile, target, timeout: timeoutMs }, ctx, ({ run }) =>
        run(script, target !== undefined),
      );
      const json = JSON.stringify(value ?? null, toJson) ?? "null";
      const room = ANSWER_BYTES - ANSWER_MARGIN_BYTES - PAGE_BYTES;
      if (Buffer.byteLength(json) <= room) return { ...page, result: JSON.parse(json) };
      const hash = options.workspace.blobs.put(Buffer.from(json));
      return { ...page, result: json.slice(0, room / 3), ref: toRef(hash) };
    },
    text: ({ result, ref, ...page }) => {
      const { body, notes, handles } = pageText(page);
      return { body: `${JSON.stringify(result, null, 1)}\n${body}`, notes, handles: { ...handles, ref } };
    },
  });

/** Values that JSON does not have are shown as JavaScript writes them. */
function toJson(_key: string, value: unknown): unknown {
  if (typeof value === "bigint") return `${value}n`;
  if (typeof value === "number" && !Number.isFinite(value)) return String(value);
  if (value instanceof Error) return String(value);
  return value;
}
