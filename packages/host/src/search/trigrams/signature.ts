import { readFileSync, readSync } from "node:fs";
import { bomOf, utf16ToUtf8 } from "../../files/text.ts";
import type { Needs } from "./needs.ts";

/** The trigrams that a file may hold, as ripgrep sees it: up to the first NUL, UTF-16 as UTF-8, all in lower case. */
export interface Signature {
  /** A set of hashed trigrams; its length is a power of two. */
  readonly bits: Uint8Array;
  /** It may match anything: it holds letters that are s or k in another case, or was not understood. */
  readonly isOdd: boolean;
  /** ripgrep takes such a file for text when it is named, and leaves it early when it is found in a folder. */
  readonly hasNul: boolean;
}

const MIN_BITS = 512;
const MAX_BITS = 65_536;
const BITS_PER_BYTE = 8;
const CHUNK_BYTES = 262_144;
const MAX_UTF16_BYTES = 16_777_216;

const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
const LOWER = Uint8Array.from({ length: 256 }, (_, byte) =>
  byte >= 0x41 && byte <= 0x5a ? byte + 32 : byte,
);
/** U+017F and U+212A in UTF-8: s and k for a search that ignores case. */
const LONG_S = 0xc5bf;
const KELVIN = 0xe284aa;

/** For a file that cannot be read: ripgrep decides. */
export const UNKNOWN: Signature = { bits: new Uint8Array(), isOdd: true, hasNul: true };

export function signFile(fd: number, size: number): Signature {
  const pen = createPen(size);
  for (let position = 0; ; ) {
    const length = readSync(fd, chunk, 0, CHUNK_BYTES, position);
    const bytes = chunk.subarray(0, length);
    if (position === 0 && bomOf(bytes).encoding !== "utf-8") return signUtf16(fd, size);
    if (length === 0 || !pen.write(bytes)) return pen.end();
    position += length;
  }
}

function signUtf16(fd: number, size: number): Signature {
  if (size > MAX_UTF16_BYTES) return UNKNOWN;
  const bytes = readFileSync(fd);
  const text = utf16ToUtf8(bytes, bomOf(bytes).encoding);
  if (!text) return UNKNOWN;
  const pen = createPen(text.length);
  pen.write(text);
  return pen.end();
}

function createPen(size: number) {
  const wanted = Math.min(MAX_BITS, Math.max(MIN_BITS, size));
  const bits = new Uint8Array(2 ** Math.ceil(Math.log2(wanted)) / BITS_PER_BYTE);
  const shift = shiftOf(bits);
  let trigram = 0;
  let isOdd = false;
  let hasNul = false;
  return {
    /** False when the rest is not searched. */
    write(bytes: Buffer): boolean {
      const nul = bytes.indexOf(0);
      const end = nul === -1 ? bytes.length : nul;
      for (let at = 0; at < end; at++) {
        trigram = ((trigram << 8) | LOWER[bytes[at]!]!) & 0xffffff;
        if ((trigram & 0xffff) === LONG_S || trigram === KELVIN) isOdd = true;
        const bit = Math.imul(trigram, MIX) >>> shift;
        bits[bit >>> 3]! |= 1 << (bit & 7);
      }
      hasNul = nul !== -1;
      return !hasNul;
    },
    end: (): Signature => ({ bits, isOdd, hasNul }),
  };
}

const MIX = 0x9e3779b1;
const shiftOf = (bits: Uint8Array) => 1 + Math.clz32(bits.length * BITS_PER_BYTE);

export function mayMatch({ bits, isOdd }: Signature, needs: Needs): boolean {
  if (isOdd) return true;
  const shift = shiftOf(bits);
  return needs.some((trigrams) => {
    for (const trigram of trigrams) {
      const bit = Math.imul(trigram, MIX) >>> shift;
      if ((bits[bit >>> 3]! & (1 << (bit & 7))) === 0) return false;
    }
    return true;
  });
}
