import { z } from "zod";

/** What an edit makes, changes and removes; a folder only while it is empty. */
export const ChangedKind = z.enum(["file", "symlink", "directory"]);
export type ChangedKind = z.output<typeof ChangedKind>;
