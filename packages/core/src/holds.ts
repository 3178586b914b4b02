import { z } from "zod";

/**
 * What an argument holds, for policy that looks at arguments without knowing the tool:
 * - `path`: a file or folder, or a list of such
 * - `tree`: a folder with all that is below it; all roots when absent
 * - `patch`: text that names the files it changes
 * - `symbol`: a symbol_id, which names the file that it is in
 * - `command`: a list of words, or text for a shell
 * - `environment`: variables that can change what a command does
 * - `host`: a URL, or a host with or without a port
 */
export type Holding = "path" | "tree" | "patch" | "symbol" | "command" | "environment" | "host";

/** Not zod's own metadata: that would show in every JSON Schema. */
const holdings = z.registry<{ readonly holds: Holding }>();

/** The same schema, declared to hold such a thing. */
export function holding<S extends z.ZodType>(holds: Holding, schema: S): S {
  const held = schema.clone();
  holdings.add(held, { holds });
  return held;
}

/** What a schema was declared to hold, even if it was refined or described later. */
export const heldBy = (schema: z.core.$ZodType): Holding | undefined => holdings.get(schema)?.holds;
