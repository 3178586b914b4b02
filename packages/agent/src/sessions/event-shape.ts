import { z } from "zod";
import type { StampedEvent } from "../events.ts";
import { NO_USAGE, Usage } from "../usage.ts";

/** The format of session logs, in their first event. It grows when an older Octant would misread a log. */
export const LOG_FORMAT = 1;

const content = z.array(z.looseObject({ type: z.string() }));
const message = z.looseObject({ role: z.enum(["user", "assistant", "tool"]) });
/** Logs of other versions may lack some counts. */
const cost = {
  usage: Usage.partial()
    .transform((usage) => ({ ...NO_USAGE, ...usage }))
    .catch(NO_USAGE),
  cost: z.number().nullable().catch(null),
};
const model = z.looseObject({ id: z.string(), provider: z.string() });
const tools = z.array(z.looseObject({ name: z.string() }));

/** The fields that we read of each type; other fields and types stay unchanged. */
const SHAPES: Readonly<Record<string, z.ZodType<Readonly<Record<string, unknown>>>>> = {
  session_began: z.looseObject({ system: z.string(), tools, model, cwd: z.string() }),
  user: z.looseObject({ origin: z.string(), content }),
  message: z.looseObject({ message: z.looseObject({ role: z.literal("assistant"), content }), ...cost }),
  stopped: z.looseObject({ text: z.string() }),
  tool_began: z.looseObject({ call_id: z.string(), name: z.string(), title: z.string().catch("") }),
  tool_ended: z.looseObject({ call_id: z.string(), name: z.string(), content, is_error: z.boolean() }),
  compaction: z.looseObject({ messages: z.array(message), tokens_after: z.number(), ...cost }),
  tools_added: z.looseObject({ tools }),
  model_changed: z.looseObject({ model }),
  title: z.looseObject({ title: z.string() }),
  notice: z.looseObject({ text: z.string() }),
  end: z.looseObject({ reason: z.string() }),
  spent: z.looseObject({ turns: z.number().catch(0), by: z.string().catch(""), ...cost }),
};

/** The fields with a default above. */
const FILLED: readonly string[] = ["usage", "cost", "title", "turns", "by"];

const Stamp = z.looseObject({ seq: z.int(), type: z.string(), at: z.string() });

/** The event of a line; undefined when it has a shape that this version cannot read. */
export function parseEvent(line: string): StampedEvent | undefined {
  try {
    const given: Readonly<Record<string, unknown>> = JSON.parse(line);
    const { type } = Stamp.parse(given);
    const parsed = Object.hasOwn(SHAPES, type) ? SHAPES[type]?.parse(given) : undefined;
    // Unchanged, except that missing fields get their defaults.
    const filled = Object.entries(parsed ?? {}).filter(([name]) => FILLED.includes(name));
    return { ...given, ...Object.fromEntries(filled) } as unknown as StampedEvent; // Checked as far as we read it.
  } catch {
    return undefined;
  }
}
