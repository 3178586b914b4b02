import { createHash } from "node:crypto";
import { deflateSync, inflateSync } from "node:zlib";
import { ToolError } from "@octant/core";
import { type BinaryEdit, malformed, patchFailed, tooLarge } from "./change.ts";
import type { PatchLines } from "./parse-hunk.ts";

/** The limit for all binary parts of one patch and their results together. */
export const MAX_BINARY_BYTES = 64 * 1024 * 1024;
export const BINARY_BYTES = "bytes of binary content";

const ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~";
const DIGITS = new Map([...ALPHABET].map((char, value) => [char, value]));
const BYTES_PER_LINE = 52;

/** Parses one `literal` or `delta` block. */
export function parseBinaryBlock(patch: PatchLines): BinaryEdit {
  const start = patch.at;
  const header = /^(literal|delta) (\d{1,9})\s*$/.exec(patch.line);
  if (!header) throw malformed(start, "expected 'literal SIZE' or 'delta SIZE' of a GIT binary patch");
  const size = Number(header[2]);
  if (size > MAX_BINARY_BYTES) throw tooLarge(MAX_BINARY_BYTES, size, BINARY_BYTES);
  const parts: Buffer[] = [];
  for (patch.at++; patch.line.trim() !== ""; patch.at++)
    parts.push(decodeLine(patch.line.trimEnd(), patch.at));
  const data = inflate(Buffer.concat(parts), size, start);
  if (header[1] === "literal") return { method: "literal", data, resultBytes: size };
  return { method: "delta", data, resultBytes: resultSize(data, start) };
}

/** Skips the reverse block, if one follows the empty line. */
export function skipReverseBlock(patch: PatchLines): void {
  if (!/^(literal|delta) /.test(patch.lines[patch.at + 1] ?? "")) return;
  for (patch.at++; patch.line.trim() !== ""; ) patch.at++;
}

/** The whole content as a `literal` block, including its final empty line. */
export function encodeLiteral(content: Buffer): string {
  const packed = deflateSync(content);
  let text = `literal ${content.length}\n`;
  for (let at = 0; at < packed.length; at += BYTES_PER_LINE) {
    text += `${encodeLine(packed.subarray(at, at + BYTES_PER_LINE))}\n`;
  }
  return `${text}\n`;
}

export function applyBinary(before: Buffer, { method, data, oldId }: BinaryEdit): Buffer {
  if (oldId !== undefined && oldId !== gitId(before, oldId.length)) {
    throw patchFailed("the binary patch was made from other content than the file has; make it again");
  }
  return method === "literal" ? data : applyDelta(before, data);
}

/** The git object id of content: 40 hex digits of SHA-1, or 64 of SHA-256. */
export function gitId(content: Buffer, length = 40): string {
  const hash = createHash(length === 64 ? "sha256" : "sha1");
  return hash.update(`blob ${content.length}\0`).update(content).digest("hex");
}

function decodeLine(line: string, number: number): Buffer {
  const length = lineLength(line.charCodeAt(0));
  const bytes = Buffer.alloc(Math.ceil(length / 4) * 4);
  if (length === 0 || line.length !== 1 + (bytes.length / 4) * 5) throw badLine(number);
  for (let group = 0; group * 4 < bytes.length; group++) {
    let value = 0;
    for (let i = 0; i < 5; i++) value = value * 85 + (DIGITS.get(line[1 + group * 5 + i]!) ?? Number.NaN);
    if (!(value <= 0xffffffff)) throw badLine(number);
    bytes.writeUInt32BE(value, group * 4);
  }
  return bytes.subarray(0, length);
}

/** A to Z are 1 to 26, a to z 27 to 52. */
function lineLength(code: number): number {
  if (code >= 65 && code <= 90) return code - 64;
  return code >= 97 && code <= 122 ? code - 70 : 0;
}

function encodeLine(bytes: Buffer): string {
  let line = String.fromCharCode(bytes.length <= 26 ? bytes.length + 64 : bytes.length + 70);
  const padded = Buffer.concat([bytes], Math.ceil(bytes.length / 4) * 4);
  for (let at = 0; at < padded.length; at += 4) {
    let value = padded.readUInt32BE(at);
    let group = "";
    for (let i = 0; i < 5; i++) {
      group = ALPHABET[value % 85] + group;
      value = Math.floor(value / 85);
    }
    line += group;
  }
  return line;
}

const badLine = (number: number) => malformed(number, "this is not a line of a GIT binary patch");

function inflate(packed: Buffer, size: number, line: number): Buffer {
  let data: Buffer | undefined;
  try {
    data = inflateSync(packed, { maxOutputLength: Math.max(1, size) });
  } catch (cause) {
    throw new ToolError(
      "PATCH_FAILED",
      `line ${line + 1} of the patch: its binary data is damaged`,
      { line },
      { cause },
    );
  }
  if (data.length !== size) throw malformed(line, `its binary data has ${data.length} bytes, not ${size}`);
  return data;
}

function resultSize(delta: Buffer, line: number): number {
  const size = readSize(delta, readSize(delta, 0).next).value;
  if (Number.isNaN(size)) throw malformed(line, "its binary delta is damaged");
  if (size > MAX_BINARY_BYTES) throw tooLarge(MAX_BINARY_BYTES, size, BINARY_BYTES);
  return size;
}

/** Seven bits per byte, lowest first; NaN when the delta ends before the number does. */
function readSize(delta: Buffer, at: number): { value: number; next: number } {
  let value = 0;
  let factor = 1;
  for (let next = at; next < delta.length; next++, factor *= 128) {
    value += (delta[next]! & 0x7f) * factor;
    if (delta[next]! < 0x80) return { value, next: next + 1 };
  }
  return { value: Number.NaN, next: delta.length };
}

/** Git's delta: bytes to insert, and pieces to copy from the old content. */
function applyDelta(before: Buffer, delta: Buffer): Buffer {
  const source = readSize(delta, 0);
  const target = readSize(delta, source.next);
  if (source.value !== before.length) {
    throw patchFailed(
      `the binary delta applies to ${source.value} bytes, the file has ${before.length}; make it again`,
    );
  }
  const after = Buffer.alloc(target.value);
  let written = 0;
  for (let at = target.next; at < delta.length; ) {
    const op = delta[at++]!;
    const piece =
      op < 0x80 ? { from: delta, start: at, length: op, next: at + op } : copyPiece(before, delta, op, at);
    const end = piece.start + piece.length;
    if (piece.length === 0 || end > piece.from.length || written + piece.length > after.length)
      throw damaged();
    piece.from.copy(after, written, piece.start, end);
    written += piece.length;
    at = piece.next;
  }
  if (written !== after.length) throw damaged();
  return after;
}

function copyPiece(before: Buffer, delta: Buffer, op: number, at: number) {
  let next = at;
  const read = (bits: number) => {
    let value = 0;
    for (let i = 0; bits >> i > 0; i++) if ((bits >> i) & 1) value += (delta[next++] ?? 0) * 256 ** i;
    return value;
  };
  const start = read(op & 0x0f);
  const length = read((op >> 4) & 0x07) || 0x10000;
  return { from: before, start, length, next };
}

const damaged = () => patchFailed("the binary delta is damaged; make the patch again");
