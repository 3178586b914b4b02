import { readdirSync } from "node:fs";
import { attempt, ToolError } from "@octant/core";
import type { Confinement } from "../confinement.ts";
import type { Path } from "../path.ts";
import { entryError, hasCode } from "../system-error.ts";

/** The text that a person has open in an editor. */
export interface Buffers {
  /** The text as it would be saved; undefined when it is not open, or equals the file. */
  unsaved(path: Path): Promise<Buffer | undefined>;
  /** Saves it; false when the editor cannot. */
  save(path: Path, bytes: Buffer): Promise<boolean>;
}

/** By real path. */
export type Unsaved = ReadonlyMap<Path, Buffer>;

/** In a larger folder, only the first files are compared with the editor. */
const MAX_COMPARED_FILES = 1_000;

/** Returns which of these files, and of the files in these folders, have unsaved changes. */
export async function findUnsaved(
  confinement: Confinement,
  buffers: Buffers | undefined,
  paths: readonly Path[],
): Promise<Unsaved> {
  const found = new Map<Path, Buffer>();
  if (!buffers) return found;
  for (const path of paths.flatMap((one) => filesAt(confinement, one)).slice(0, MAX_COMPARED_FILES)) {
    const bytes = await buffers.unsaved(path);
    if (bytes) found.set(path, bytes);
  }
  return found;
}

/** The real path of a file, or those in a folder; none when there is nothing. */
function filesAt(confinement: Confinement, path: Path): Path[] {
  const file = attempt(() => {
    using opened = confinement.openFile(path);
    return opened.path;
  });
  if (file !== undefined) return [file];
  const inside = attempt(() => {
    using folder = confinement.openFolder(path);
    // An editor cannot open a file whose name is not text.
    return readdirSync(folder.path, { recursive: true, withFileTypes: true });
  });
  return (inside ?? []).flatMap((entry) => (entry.isFile() ? [`${entry.parentPath}/${entry.name}`] : []));
}

/** Saves the person's text, so that an edit starts from it. */
export async function saveAll(buffers: Buffers | undefined, unsaved: Unsaved): Promise<void> {
  for (const [path, bytes] of unsaved) if (!(await buffers?.save(path, bytes))) throw notSaved(path);
}

/** Refuses a change that does not start from the file's text. */
export function checkSaved(unsaved: Unsaved): void {
  for (const path of unsaved.keys()) throw notSaved(path);
}

const notSaved = (path: Path) =>
  entryError(
    "CONFLICT",
    path,
    "has unsaved changes in the editor; nothing was written; ask the person to save it, then read it again",
    { expected: "the file on disk", actual: "unsaved changes" },
  );

/** A patch of the file on disk conflicts with the text in the editor; the error says where that text is. */
export function explainUnsaved(cause: unknown, unsaved: Unsaved): unknown {
  if (!hasCode(cause, "CONFLICT") || unsaved.size === 0) return cause;
  const message = `${cause.message}; it has unsaved changes in the editor, which fs.read shows`;
  // hasCode has checked it.
  const details = cause.details as ToolError<"CONFLICT">["details"];
  return new ToolError("CONFLICT", message, details, { cause });
}
