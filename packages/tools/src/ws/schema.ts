import { ANSWER_BYTES, action, pagingInput, staleCursor, toInputSchema, toOutputSchema } from "@octant/core";
import { z } from "zod";
import { About, type Subject, subjectsOf } from "./manual.ts";
import { ANSWER_MARGIN_BYTES, type WsOptions } from "./options.ts";

const MAX_ACTIONS = 200;

export const schema = ({ registry }: WsOptions) =>
  action({
    summary: "The JSON Schema of each action, input and output.",
    access: "read",
    timing: "sync",
    intent: "inspect",
    input: z.strictObject({ tool: About, ...pagingInput(MAX_ACTIONS, MAX_ACTIONS) }),
    output: z.object({
      actions: z
        .record(z.string(), z.object({ input: z.unknown(), output: z.unknown() }))
        .describe("By name, such as fs.read"),
    }),
    errors: ["UNKNOWN_TOOL", "UNKNOWN_ACTION", "INVALID_CURSOR"],
    examples: [
      { title: "Everything, page by page", input: {} },
      { title: "One action", input: { tool: "ws.detect" } },
    ],
    run({ tool, limit }, { resume, more }) {
      const subjects = subjectsOf(registry, tool);
      const from = resume(z.string());
      const first = from === undefined ? 0 : subjects.findIndex((subject) => fullName(subject) === from);
      if (first < 0) throw staleCursor();
      const { page, next } = pageOf(subjects.slice(first), limit);
      if (next) more(fullName(next));
      return { actions: Object.fromEntries(page) };
    },
  });

const fullName = ({ tool, name }: Subject): string => `${tool.name}.${name}`;

/** As many as fit, and one at least: a page always goes on. */
function pageOf(subjects: readonly Subject[], limit: number) {
  const page: [string, { input: unknown; output: unknown }][] = [];
  let size = 0;
  for (const subject of subjects) {
    const schemas = { input: toInputSchema(subject.act), output: toOutputSchema(subject.act) };
    size += Buffer.byteLength(JSON.stringify(schemas));
    const isFull = page.length === limit || size > ANSWER_BYTES - ANSWER_MARGIN_BYTES;
    if (isFull && page.length > 0) return { page, next: subject };
    page.push([fullName(subject), schemas]);
  }
  return { page, next: undefined };
}
