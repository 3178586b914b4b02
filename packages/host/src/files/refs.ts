import { Ref, ToolError } from "@octant/core";
import type { Confinement } from "../confinement.ts";
import type { Path } from "../path.ts";

/** Validation costs as much as opening a file, so most paths skip it. */
export const isRef = (uri: string): boolean =>
  uri.includes(":") && !uri.startsWith("file:") && Ref.safeParse(uri).success;

/** The path of something in the workspace. A ref reads like a file but has no path. */
export function toPlace(confinement: Confinement, uri: string): Path {
  if (!isRef(uri)) return confinement.toPath(uri);
  const message = `${uri} is a ref; only fs.read takes it. Give a file or folder here`;
  throw new ToolError("INVALID_ARGUMENT", message, { issues: [{ path: "uri", message }] });
}
