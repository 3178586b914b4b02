import { homedir } from "node:os";
import { posix } from "node:path";
import { invalidArgument } from "@octant/core";

/**
 * A path inside Octant is a string that can hold any file name: bytes that are not UTF-8 become lone surrogates
 * U+DC80…U+DCFF, one per byte. `toNative` converts it for a system call.
 */
export type Path = string;

const ESCAPED = /[\uDC80-\uDCFF]/;
const ESCAPE_BASE = 0xdc00;
const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

export function fromNative(bytes: Uint8Array): Path {
  try {
    return utf8.decode(bytes);
  } catch {
    return decodeLossless(Buffer.from(bytes));
  }
}

export function toNative(path: Path): string | Buffer {
  return path.isWellFormed() ? path : toBytes(path);
}

/** The bytes that the system knows the path by. */
export function toBytes(path: Path): Buffer {
  if (path.isWellFormed()) return Buffer.from(path);
  const parts: Buffer[] = [];
  for (const char of path) {
    const code = char.charCodeAt(0);
    parts.push(char.length === 1 && ESCAPED.test(char) ? Buffer.of(code - ESCAPE_BASE) : Buffer.from(char));
  }
  return Buffer.concat(parts);
}

/** `file://` and the percent-encoded bytes of the absolute path; the other way round is `uriToPath`. */
export const pathToUri = (path: Path): string => `file://${encodePath(path)}`;

/** A path, or a part of one, in the form of a uri. */
export function encodePath(path: Path): string {
  if (PLAIN.test(path)) return path;
  let encoded = "";
  for (const byte of toBytes(path)) {
    const char = String.fromCharCode(byte);
    encoded += PLAIN.test(char) ? char : `%${byte.toString(16).toUpperCase().padStart(2, "0")}`;
  }
  return encoded;
}

/** The characters that RFC 3986 allows unescaped in a path. */
const PLAIN = /^[A-Za-z0-9\-._~!$&'()*+,;=:@/]*$/;
const SCHEME = /^[a-z][a-z0-9+.-]+:/i;

/**
 * The absolute path that a `file:///` URI or a path from `base` names, with `.` and `..` taken out. As in a shell, `~` is
 * the home folder; `./~` is a folder of that name.
 */
export function uriToPath(uri: string, base: Path): Path {
  const path = /^file:/i.test(uri) ? decodeFileUri(uri) : decodeBarePath(uri, base);
  if (path.includes("\0")) throw notAPath("a path cannot hold a NUL byte");
  return posix.resolve(path);
}

function decodeFileUri(uri: string): Path {
  const local = /^file:\/\/(?:localhost)?(\/.*)$/is.exec(uri)?.[1];
  if (local === undefined) throw notAPath("a file URI starts with file:/// and names this machine");
  if (/[?#]/.test(local)) throw notAPath("a file URI has no query or fragment; write ? as %3F and # as %23");
  if (/%(?![0-9a-f]{2})/i.test(local))
    throw notAPath("% in a file URI starts two hex digits; write % as %25");
  if (!local.includes("%")) return local;
  const bytes = Buffer.from(
    local.replace(/%([0-9a-f]{2})|[^%]+/gi, (part, hex?: string) => hex ?? Buffer.from(part).toString("hex")),
    "hex",
  );
  return fromNative(bytes);
}

function decodeBarePath(path: string, base: Path): Path {
  if (!path.isWellFormed()) throw notAPath("the path is not valid Unicode; give it as a file:/// URI");
  if (SCHEME.test(path) && path.includes("://"))
    throw notAPath("only file:/// URIs and refs can be used here");
  if (/^~(?:\/|$)/.test(path)) return homedir() + path.slice(1);
  return path.startsWith("/") ? path : `${base}/${path}`;
}

const notAPath = (message: string) => invalidArgument("uri", message);

/** Whether `path` is `folder` or below it. Both are normalised. */
export const isWithin = (folder: Path, path: Path): boolean =>
  path.startsWith(folder) && (path.length === folder.length || folder === "/" || path[folder.length] === "/");

/** The folders that are not inside another one. */
export const outermost = (folders: readonly Path[]): readonly Path[] =>
  folders.filter((folder) => !folders.some((other) => other !== folder && isWithin(other, folder)));

/** The order of a walk that sorts each folder by name: folder by folder, each name by its bytes, as ripgrep sorts. */
export function comparePaths(a: Path, b: Path): number {
  const left = a.split("/");
  const right = b.split("/");
  for (let i = 0; i < left.length && i < right.length; i++) {
    if (left[i] === right[i]) continue;
    return Buffer.compare(toBytes(left[i] as string), toBytes(right[i] as string));
  }
  return left.length - right.length;
}

/** Valid UTF-8 sequences are decoded, every other byte is escaped. */
const decodeLossless = (bytes: Buffer): Path =>
  bytes.toString("latin1").replace(SEQUENCE, (sequence) => {
    try {
      return utf8.decode(Buffer.from(sequence, "latin1"));
    } catch {
      return sequence.replace(/./g, (byte) => String.fromCharCode(ESCAPE_BASE + byte.charCodeAt(0)));
    }
  });

/** The bytes of a character, possibly an invalid one, or a byte that is not ASCII. */
const SEQUENCE = /[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}|[\x80-\xff]/g;
