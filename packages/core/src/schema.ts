import { z } from "zod";
import { envelopeSchema } from "./envelope.ts";
import type { AnyAction } from "./tool.ts";

export type JsonSchema = z.core.JSONSchema.JSONSchema;

/** The input before defaults are filled in. */
export const toInputSchema = (act: AnyAction): JsonSchema =>
  z.toJSONSchema(act.input, { io: "input", unrepresentable: "any" });

/** The envelope around the action's output data. */
export const toOutputSchema = (act: AnyAction): JsonSchema =>
  z.toJSONSchema(envelopeSchema(act.output), { io: "output", unrepresentable: "any" });

/** The arguments that differ from the defaults of the action: what the caller chose. */
export function withoutDefaults(
  act: AnyAction,
  input: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  const { shape } = act.input;
  const isDefault = ([name, value]: [string, unknown]) => {
    const schema = shape[name];
    // Inputs are JSON.
    return (
      schema instanceof z.ZodDefault && JSON.stringify(schema.def.defaultValue) === JSON.stringify(value)
    );
  };
  return Object.fromEntries(Object.entries(input).filter((entry) => !isDefault(entry)));
}
