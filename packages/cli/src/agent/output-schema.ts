import { readFileSync } from "node:fs";
import { createOutputSchema, type OutputSchema } from "@octant/agent";
import { UsageError } from "../command.ts";

/** Loads the schema for `--output-schema`. */
export function loadOutputSchema(file: string): OutputSchema {
  try {
    return createOutputSchema(JSON.parse(readFileSync(file, "utf8")));
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new UsageError(`--output-schema ${file}: ${reason}`, "it has to be a file with a JSON Schema");
  }
}
