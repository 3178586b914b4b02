import { malformed } from "./malformed.ts";

export interface Chunk {
  readonly id: string;
  /** Where its content begins. */
  readonly at: number;
  readonly size: number;
}

const HEADER_BYTES = 8;

export const viewOf = (bytes: Uint8Array) => new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);

export const idAt = (bytes: Uint8Array, at: number): string =>
  Buffer.from(bytes.subarray(at, at + 4)).toString("latin1");

/** Checks the outer `RIFF` chunk and its form, such as WAVE or sfbk, and returns the chunks inside. */
export function readRiff(bytes: Uint8Array, form: string, what: string): Chunk[] {
  if (bytes.length < 12) throw malformed(what, 0, `has only ${bytes.length} bytes`);
  if (idAt(bytes, 0) !== "RIFF") throw malformed(what, 0, "does not begin with RIFF");
  if (idAt(bytes, 8) !== form) throw malformed(what, 8, `is not of the form ${form}`);
  return readChunks(bytes, 12, bytes.length, what);
}

/** Chunks from `from` up to `end`; a chunk that leaves this stretch is refused, so that no reader trusts its size. */
export function readChunks(bytes: Uint8Array, from: number, end: number, what: string): Chunk[] {
  const view = viewOf(bytes);
  const chunks: Chunk[] = [];
  // Some writers leave a few bytes of padding at the end.
  for (let at = from; at + HEADER_BYTES <= end; ) {
    const size = view.getUint32(at + 4, true);
    const chunk = { id: idAt(bytes, at), at: at + HEADER_BYTES, size };
    if (chunk.at + size > end)
      throw malformed(what, at, `chunk '${printable(chunk.id)}' of ${size} bytes ends behind its container`);
    chunks.push(chunk);
    at = chunk.at + size + (size % 2);
  }
  return chunks;
}

const printable = (id: string) => id.replace(/[^\x20-\x7e]/g, "?");
