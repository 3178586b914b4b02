import { readdirSync, readlinkSync } from "node:fs";
import { type ErrorCode, ToolError } from "@octant/core";
import { type Confinement, type FileKind, kindOf, splitPath } from "../confinement.ts";
import { hashOf } from "../hashes.ts";
import { type Path, pathToUri } from "../path.ts";
import { toToolError } from "../system-error.ts";
import type { ExistingFile } from "./existing-file.ts";

/** A link itself, whose content is where it leads, or a folder, which has none; undefined when it is something else. */
export function readEntry(
  confinement: Confinement,
  kind: "symlink" | "directory",
  asked: Path,
): ExistingFile | undefined {
  using entry = confinement.openEntry(asked);
  const { path, stat } = entry;
  if (kindOf(stat) !== kind) return undefined;
  const bytes = kind === "symlink" ? readTarget(confinement, path) : Buffer.alloc(0);
  return { kind, path, bytes, hash: hashOf(bytes), stat };
}

/** The entry at the path itself; undefined when there is none. */
export function kindAt(confinement: Confinement, path: Path): FileKind | undefined {
  try {
    using entry = confinement.openEntry(path);
    return kindOf(entry.stat);
  } catch (cause) {
    if (cause instanceof ToolError && NOTHING.includes(cause.code)) return undefined;
    throw cause;
  }
}

const NOTHING: readonly ErrorCode[] = ["NOT_FOUND", "NOT_A_DIRECTORY"];

export function namesIn(confinement: Confinement, path: Path): readonly string[] {
  using folder = confinement.openFolder(path);
  return readdirSync(folder.at("."));
}

function readTarget(confinement: Confinement, path: Path): Buffer {
  const { parent, name } = splitPath(path);
  using folder = confinement.openFolder(parent);
  try {
    return readlinkSync(folder.at(name), { encoding: "buffer" });
  } catch (cause) {
    throw toToolError(cause, pathToUri(path));
  }
}
