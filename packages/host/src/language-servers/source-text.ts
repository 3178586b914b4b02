import { isUtf8 } from "node:buffer";
import { type Hash, ToolError } from "@octant/core";
import type { Confinement } from "../confinement.ts";
import { readExisting } from "../edits/read-before.ts";
import { utf16FormOf } from "../patch/text-form.ts";
import { type Path, pathToUri } from "../path.ts";

/** A source file: its text without a byte order mark. */
export interface SourceText {
  /** The real one. */
  readonly path: Path;
  readonly text: string;
  readonly bytes: Buffer;
  readonly hash: Hash;
}

/** Longer files are not hand-written, and a parser would take seconds for them. */
const MAX_SOURCE_BYTES = 4 * 1024 * 1024;
const BOM = "\uFEFF";

/** NOT_TEXT and TOO_LARGE for what cannot be source. */
export function readSourceText(confinement: Confinement, path: Path): SourceText {
  const file = readExisting(confinement, path);
  const { bytes, hash } = file;
  const uri = pathToUri(file.path);
  if (bytes.length > MAX_SOURCE_BYTES)
    throw new ToolError(
      "TOO_LARGE",
      `${uri} is too large to be understood as code; fs.search_text searches it`,
      {
        limit: MAX_SOURCE_BYTES,
        actual: bytes.length,
        what: "bytes",
      },
    );
  const text = utf16FormOf(bytes)?.decode(bytes) ?? (isUtf8(bytes) ? bytes.toString() : undefined);
  if (text === undefined || text.includes("\0"))
    throw new ToolError("NOT_TEXT", `${uri} is not text`, { uri });
  return { path: file.path, text: text.startsWith(BOM) ? text.slice(1) : text, bytes, hash };
}
