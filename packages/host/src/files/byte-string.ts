import { fromNative, type Path, toBytes } from "../path.ts";

/**
 * A byte string has one character for each byte of a file's name (latin1). Globs are matched on it and names are
 * sorted by it, since that is how the file system, git and ripgrep see them.
 */
export const byteStringToPath = (bytes: string): Path =>
  ASCII.test(bytes) ? bytes : fromNative(Buffer.from(bytes, "latin1"));

export const pathToByteString = (path: Path): string =>
  ASCII.test(path) ? path : toBytes(path).toString("latin1");

const ASCII = /^[\x00-\x7f]*$/;
