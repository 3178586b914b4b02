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
