import { ToolError } from "@octant/core";
import { type Confinement, splitPath } from "../confinement.ts";
import { patchFailed } from "../patch/change.ts";
import { type Path, pathToUri } from "../path.ts";
import { findPlace } from "./new-place.ts";
import { checkWritable } from "./protected-paths.ts";

/** The target of a link at `path` must be inside the workspace and not protected. */
export function checkTarget(confinement: Confinement, path: Path, target: Path): void {
  if (target === "" || target.includes("\0")) throw patchFailed("the patch has a link that leads nowhere");
  // Behind a name, `..` need not lead back to where the name is.
  if (/[^/.][^/]*\/(.*\/)?\.\.(\/|$)/.test(target))
    throw patchFailed(`the link ${pathToUri(path)} would lead through '..'; write where it leads without`);
  const leads = confinement.toPath(
    pathToUri(target.startsWith("/") ? target : `${splitPath(path).parent}/${target}`),
  );
  checkWritable(confinement.roots, leads, findPlace(confinement, leads).path);
  try {
    using place = openAny(confinement, leads);
    checkWritable(confinement.roots, place.path);
  } catch (cause) {
    // A link may point to a path that does not exist yet.
    if (!(cause instanceof ToolError && cause.code === "NOT_FOUND")) throw cause;
  }
}

function openAny(confinement: Confinement, path: Path) {
  try {
    return confinement.openFolder(path);
  } catch (cause) {
    if (!(cause instanceof ToolError && cause.code === "NOT_A_DIRECTORY")) throw cause;
    return confinement.openFile(path);
  }
}
