import { type Hash, isHashOf } from "@octant/core";
import { type Confinement, splitPath } from "../confinement.ts";
import { type Applied, applyChange } from "../patch/apply.ts";
import type { FileChange } from "../patch/change.ts";
import { isPatchFailed, patchFailed } from "../patch/change.ts";
import { type Path, pathToUri } from "../path.ts";
import { entryError, hasCode } from "../system-error.ts";
import { findPlace } from "./new-place.ts";
import type { Part } from "./plan-patch.ts";
import { checkWritable } from "./protected-paths.ts";
import { type ExistingFile, readEntry } from "./read-before.ts";

/** The link that a part of a patch starts from. */
export function readLink(confinement: Confinement, { change, asked }: Omit<Part, "source">): ExistingFile {
  const isCopy = change.kind === "update" && change.copy;
  const link = readEntry(confinement, "symlink", asked);
  if (!link) throw notTheLink(asked);
  if (!isCopy) checkWritable(confinement.roots, asked, link.path);
  return link;
}

/** A patch contains a link's whole target and so checks itself; base_hash would be that of the target file. */
export function checkLinkBase({ path, hash }: ExistingFile, expected: Hash | undefined): void {
  if (expected === undefined || isHashOf(expected, hash)) return;
  const what =
    "is a link, and base_hash is not the hash of its target; leave it out, the patch itself states the expected target";
  throw entryError("CONFLICT", path, what, { expected, actual: hash });
}

/** The new target. An error does not reveal the current target, which may be outside the workspace. */
export function applyToLink({ change, source }: Part): Applied {
  if (!source) return applyChange(Buffer.alloc(0), change);
  if (!saysWhatIsThere(change, source.bytes)) throw notTheLink(source.path);
  try {
    return applyChange(source.bytes, change);
  } catch (cause) {
    if (!isPatchFailed(cause)) throw cause;
    throw notTheLink(source.path);
  }
}

/** Byte for byte, since there is no base_hash. Only a rename may omit it. */
function saysWhatIsThere({ kind, edits }: FileChange, target: Buffer): boolean {
  if (edits.form === "binary") return edits.oldId !== undefined;
  if (edits.form === "structured") return false;
  if (edits.hunks.length === 0) return kind === "update";
  const old = edits.hunks.flatMap(({ lines }) => lines).filter(({ op }) => op !== "+");
  return target.equals(Buffer.from(old.map(({ text, eol }) => text + eol).join("")));
}

const notTheLink = (path: Path) =>
  entryError("PATCH_FAILED", path, "is not the link that the patch changes; look at it with fs.stat");

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
    if (!hasCode(cause, "NOT_FOUND")) throw cause;
  }
}

function openAny(confinement: Confinement, path: Path) {
  try {
    return confinement.openFolder(path);
  } catch (cause) {
    if (!hasCode(cause, "NOT_A_DIRECTORY")) throw cause;
    return confinement.openFile(path);
  }
}
