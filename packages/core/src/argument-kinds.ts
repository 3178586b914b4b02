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
export type ArgumentKind =
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
const kinds = z.registry<{ readonly kind: ArgumentKind }>();

/** The same schema, declared to hold content of this kind. */
export function ofKind<S extends z.ZodType>(kind: ArgumentKind, schema: S): S {
  const declared = schema.clone();
  kinds.add(declared, { kind });
  return declared;
}

/** The declared kind of a schema, even if it was refined or described later. */
export const kindOfArgument = (schema: z.core.$ZodType): ArgumentKind | undefined => kinds.get(schema)?.kind;
