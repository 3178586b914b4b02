import { z } from "zod";

/** The kinds of entries that an edit creates, changes and removes; a folder only while it is empty. */
export const ChangedKind = z.enum(["file", "symlink", "directory"]);
export type ChangedKind = z.output<typeof ChangedKind>;
