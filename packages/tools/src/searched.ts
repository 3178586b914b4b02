import { type Context, Uri } from "@octant/core";
import { type Path, pathToUri } from "@octant/host";
import { z } from "zod";

/** The part of an answer about files that a search did not cover. */
export const notSearched = {
  left_out: z.string().optional().describe("A permission rule whose files were not searched"),
  missing_roots: z.array(Uri).optional().describe("Roots that no longer exist"),
};

/** Whether a rule hides the file from this call. */
export const toHidden =
  (ctx: Context) =>
  (path: Path): boolean =>
    ctx.hides(pathToUri(path)) !== undefined;

export function toNotSearched(ctx: Context, missing: readonly Path[]) {
  const rule = ctx.hides(null);
  return {
    ...(rule !== undefined && { left_out: rule }),
    ...(missing.length > 0 && { missing_roots: missing.map(pathToUri) }),
  };
}

export interface NotSearched {
  readonly left_out?: string | undefined;
  readonly missing_roots?: readonly string[] | undefined;
}

export const notSearchedNotes = ({ left_out, missing_roots }: NotSearched): (string | undefined)[] => [
  left_out && `not searched: the files of ${left_out}`,
  missing_roots && `not searched, the root no longer exists: ${missing_roots.join(", ")}`,
];
