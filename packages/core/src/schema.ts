import { z } from "zod";
import { envelopeSchema } from "./envelope.ts";
import type { AnyAction } from "./tool.ts";

export type JsonSchema = z.core.JSONSchema.JSONSchema;

/** What goes in, before defaults are filled in. */
export const toInputSchema = (act: AnyAction): JsonSchema =>
  z.toJSONSchema(act.input, { io: "input", unrepresentable: "any" });

/** What comes out: the envelope round the action's data. */
export const toOutputSchema = (act: AnyAction): JsonSchema =>
  z.toJSONSchema(envelopeSchema(act.output), { io: "output", unrepresentable: "any" });
