import {
  closeSync,
  constants,
  fstatSync,
  openSync,
  readSync,
  realpathSync,
  type Stats,
  statSync,
} from "node:fs";
import { join } from "node:path";
import { type ProjectFile, realPlace } from "./places.ts";
import { refusedFile, type SettingsFile } from "./settings-error.ts";

const MAX_SETTINGS_BYTES = 1024 * 1024;

export interface FileText {
  readonly text: string;
  readonly stat: Stats;
}

/** The text of a settings file, or undefined when there is none. Nothing but a regular file is ever opened. */
export function readSettingsFile(file: SettingsFile | ProjectFile): FileText | undefined {
  const seen = lookAt(file);
  if (!seen) return undefined;
  if (!seen.isFile()) throw refusedFile(file, "expected a regular file");
  let fd: number;
  try {
    fd = openSync(file.path, OPEN);
  } catch (cause) {
    throw unreadable(file, cause);
  }
  try {
    // Checked again: the file may have been replaced between the two calls.
    const stat = fstatSync(fd);
    if (!stat.isFile()) throw refusedFile(file, "expected a regular file");
    if ("root" in file) refuseLinks(file, stat);
    return { text: decode(file, readBytes(file, fd, stat.size)), stat };
  } finally {
    closeSync(fd);
  }
}

// Without waiting for the other end, should it be a pipe after all.
const OPEN = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY;

function lookAt(file: SettingsFile): Stats | undefined {
  try {
    return statSync(file.path, { throwIfNoEntry: false });
  } catch (cause) {
    throw unreadable(file, cause);
  }
}

/**
 * A link could lead to a file that is not the project's, or to one inside that the agent may edit, unlike the settings
 * themselves.
 */
function refuseLinks(file: ProjectFile, stat: Stats): void {
  const expected = join(realPlace(file.root), file.shown);
  const actual = realpathSync.native(file.path);
  const { dev, ino } = statSync(expected, { throwIfNoEntry: false }) ?? {};
  if (actual !== expected || dev !== stat.dev || ino !== stat.ino)
    throw refusedFile(file, "expected the file itself; a link is refused, wherever it leads");
}

function readBytes(file: SettingsFile, fd: number, size: number): Buffer {
  if (size > MAX_SETTINGS_BYTES) throw refusedFile(file, `expected at most ${MAX_SETTINGS_BYTES} bytes`);
  // One extra byte detects a growing file.
  const buffer = Buffer.alloc(size + 1);
  let length = 0;
  for (let read = -1; read !== 0 && length < buffer.length; length += read)
    read = readSync(fd, buffer, length, buffer.length - length, null);
  if (length !== size) throw refusedFile(file, "the file changed while it was read; try again");
  return buffer.subarray(0, length);
}

function decode(file: SettingsFile, bytes: Buffer): string {
  try {
    // Removes the byte order mark.
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (cause) {
    throw refusedFile(file, "expected UTF-8", { cause });
  }
}

function unreadable(file: SettingsFile, cause: unknown): Error {
  const code = cause instanceof Error && "code" in cause ? ` (${cause.code})` : "";
  return refusedFile(file, `expected a file that can be read${code}`, { cause });
}
