import { z } from "zod";

/**
 * The kind of content of an argument, for policies that inspect arguments without knowing the tool:
 * - `path`: a file or folder, or a list of them
 * - `tree`: a folder with everything below it; all roots when absent
 * - `patch`: text that names the files it changes
 * - `symbol`: a symbol_id, which names its file
 * - `command`: a list of words, or text for a shell
 * - `input`: text or keys that a command reads
 * - `environment`: variables that can change what a command does
 * - `host`: a URL, or a host with or without a port
 * - `address`: a URL, or a file of the workspace
 * - `subject`: a file, a symbol_id, a handle, or the hash of stored content
 */
export type Holding =
  | "path"
  | "tree"
  | "patch"
  | "symbol"
  | "command"
  | "input"
  | "environment"
  | "host"
  | "address"
  | "subject";

/** Not zod's own metadata: that would show in every JSON Schema. */
const holdings = z.registry<{ readonly holds: Holding }>();

/** The same schema, declared to hold such a thing. */
export function holding<S extends z.ZodType>(holds: Holding, schema: S): S {
  const held = schema.clone();
  holdings.add(held, { holds });
  return held;
}

/** The declared content of a schema, even if it was refined or described later. */
export const heldBy = (schema: z.core.$ZodType): Holding | undefined => holdings.get(schema)?.holds;
