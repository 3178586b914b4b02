import { Ref, ToolError } from "@octant/core";
import type { Confinement } from "../confinement.ts";
import type { Path } from "../path.ts";

/** Asking the schema costs as much as opening a file, so it is asked only about what may be a ref. */
export const isRef = (uri: string): boolean =>
  uri.includes(":") && !uri.startsWith("file:") && Ref.safeParse(uri).success;

/** The path of something in the workspace. A ref reads like a file, but is nowhere. */
export function toPlace(confinement: Confinement, uri: string): Path {
  if (!isRef(uri)) return confinement.toPath(uri);
  const message = `${uri} is a ref, which fs.read reads, by range too; here a file or folder is wanted`;
  throw new ToolError("INVALID_ARGUMENT", message, { issues: [{ path: "uri", message }] });
}
