import { accessSync, constants, readdirSync, readlinkSync } from "node:fs";
import { ToolError } from "@octant/core";
import { type Confinement, type FileKind, kindOf, splitPath } from "../confinement.ts";
import { readAll } from "../files/file-facts.ts";
import { hashOf } from "../hashes.ts";
import { type Path, pathToUri, toNative } from "../path.ts";
import { entryError, hasCode, toToolError } from "../system-error.ts";
import type { ChangedKind } from "./changed-kind.ts";
import type { Existing } from "./file-step.ts";

/** The largest file that is edited; all of it is in memory for a moment, twice. */
export const MAX_EDIT_BYTES = 32 * 1024 * 1024;

export interface ExistingFile extends Existing {
  readonly path: Path;
}

/** Reads a file for an edit. The returned path is the real one: a link stays, and its target is edited. */
export function readExisting(confinement: Confinement, path: Path): ExistingFile {
  using file = confinement.openFile(path);
  const uri = pathToUri(file.path);
  const { size } = file.stat;
  checkSize(uri, size);
  try {
    const bytes = readAll(file.fd, size);
    return { kind: "file", path: file.path, bytes, hash: hashOf(bytes), stat: file.stat };
  } catch (cause) {
    throw toToolError(cause, uri);
  }
}

/**
 * A file, a link itself, whose content is where it leads, or a folder, which has none; undefined when a link or folder
 * is something else.
 */
export function readEntry(
  confinement: Confinement,
  kind: ChangedKind,
  asked: Path,
): ExistingFile | undefined {
  if (kind === "file") return readExisting(confinement, asked);
  using entry = confinement.openEntry(asked);
  const { path, stat } = entry;
  if (kindOf(stat) !== kind) return undefined;
  const bytes = kind === "symlink" ? readTarget(confinement, path) : Buffer.alloc(0);
  return { kind, path, bytes, hash: hashOf(bytes), stat };
}

/** The bytes of a link itself. */
export function readTarget(confinement: Confinement, path: Path): Buffer {
  const { parent, name } = splitPath(path);
  using folder = confinement.openFolder(parent);
  try {
    return readlinkSync(folder.at(name), { encoding: "buffer" });
  } catch (cause) {
    throw toToolError(cause, pathToUri(path));
  }
}

/** The entry at the path itself; undefined when there is none. */
export function kindAt(confinement: Confinement, path: Path): FileKind | undefined {
  try {
    using entry = confinement.openEntry(path);
    return kindOf(entry.stat);
  } catch (cause) {
    if (hasCode(cause, "NOT_FOUND", "NOT_A_DIRECTORY")) return undefined;
    throw cause;
  }
}

export function namesIn(confinement: Confinement, path: Path): readonly string[] {
  using folder = confinement.openFolder(path);
  return readdirSync(folder.at("."));
}

/** Refuses a read-only file, for the superuser too: the mark is deliberate. */
export function checkWriteAccess({ path, stat }: ExistingFile): void {
  const isMine = process.geteuid?.() === stat.uid;
  if ((stat.mode & 0o222) === 0) {
    const advice = isMine ? "give it write permission first (chmod u+w)" : "only its owner can change that";
    throw entryError("ACCESS_DENIED", path, `is read-only; ${advice}`);
  }
  if (isMine) return;
  try {
    accessSync(toNative(path), constants.W_OK);
  } catch (cause) {
    throw toToolError(cause, pathToUri(path));
  }
}

export function checkSize(uri: string, size: number): void {
  if (size <= MAX_EDIT_BYTES) return;
  const message = `${uri} has ${size} bytes, more than the ${MAX_EDIT_BYTES} that can be edited; use a command instead`;
  throw new ToolError("TOO_LARGE", message, { limit: MAX_EDIT_BYTES, actual: size, what: "bytes" });
}
