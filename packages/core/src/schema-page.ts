import { z } from "zod";
import { ANSWER_BYTES, ANSWER_MARGIN_BYTES } from "./budget.ts";
import { pagingInput, staleCursor } from "./paging.ts";
import { toInputSchema, toOutputSchema } from "./schema.ts";
import type { AnyAction, Context } from "./tool.ts";

const MAX_ACTIONS = 200;

export const schemaPaging = pagingInput(MAX_ACTIONS, MAX_ACTIONS);

export const SchemaPage = z.object({
  actions: z.record(z.string(), z.object({ input: z.unknown(), output: z.unknown() })).describe("By name"),
});

/** The schemas of some actions, page by page: as many as fit, and at least one, so that paging always advances. */
export function toSchemaPage(
  actions: readonly (readonly [name: string, act: AnyAction])[],
  limit: number,
  { resume, more }: Pick<Context, "resume" | "more">,
): z.output<typeof SchemaPage> {
  const from = resume(z.string());
  const first = from === undefined ? 0 : actions.findIndex(([name]) => name === from);
  if (first < 0) throw staleCursor();
  const page: [string, { input: unknown; output: unknown }][] = [];
  let size = 0;
  for (const [name, act] of actions.slice(first)) {
    const schemas = { input: toInputSchema(act), output: toOutputSchema(act) };
    size += Buffer.byteLength(JSON.stringify(schemas));
    const isFull = page.length === limit || size > ANSWER_BYTES - ANSWER_MARGIN_BYTES;
    if (isFull && page.length > 0) {
      more(name);
      break;
    }
    page.push([name, schemas]);
  }
  return { actions: Object.fromEntries(page) };
}
