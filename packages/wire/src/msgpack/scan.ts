import { isUtf8 } from "node:buffer";
import { ToolError } from "@octant/core";

export const MAX_DEPTH = 64;
/** At worst a value takes 200 times its bytes in memory, so a body of 16 MiB must not contain as many values. */
export const MAX_VALUES = 1_000_000;

type Kind = "fixed" | "wide" | "bin" | "str" | "array" | "map";

/** The first bytes of a kind, each with the size of the value, or of its length where that follows. */
const SIZES: Readonly<Record<Kind, Readonly<Record<number, number>>>> = {
  fixed: {
    192: 0,
    194: 0,
    195: 0,
    202: 4,
    203: 8,
    204: 1,
    205: 2,
    206: 4,
    208: 1,
    209: 2,
    210: 4,
  },
  wide: { 207: 8, 211: 8 },
  bin: { 196: 1, 197: 2, 198: 4 },
  str: { 217: 1, 218: 2, 219: 4 },
  array: { 220: 2, 221: 4 },
  map: { 222: 2, 223: 4 },
};

const FORMATS = new Map(
  Object.entries(SIZES).flatMap(([kind, sizes]) =>
    // Object.entries widens the keys to string.
    Object.entries(sizes).map(([first, size]) => [Number(first), { kind: kind as Kind, size }]),
  ),
);

export const DOUBLE = 0xcb;
export const INT64 = 0xd3;

/** Where the content of the value at `at` starts, and its length: in bytes, or in entries of a container. */
export function readHead(bytes: Buffer, at: number) {
  const first = bytes[at] ?? 0;
  const start = at + 1;
  if (first <= 0x7f || first >= 0xe0) return { kind: "fixed", start, length: 0 } as const;
  if (first <= 0x8f) return { kind: "map", start, length: first & 0x0f } as const;
  if (first <= 0x9f) return { kind: "array", start, length: first & 0x0f } as const;
  if (first <= 0xbf) return { kind: "str", start, length: first & 0x1f } as const;
  const format = FORMATS.get(first);
  if (!format)
    throw refuse(at, `type 0x${first.toString(16)} is not used: extension types have no meaning here`);
  const { kind, size } = format;
  if (start + size > bytes.length) throw refuse(at, "the body ends inside a value");
  if (kind === "fixed" || kind === "wide") return { kind, start, length: size };
  return { kind, start: start + size, length: bytes.readUIntBE(start, size) };
}

/**
 * Scans a MsgPack body without building anything, and throws INVALID_ARGUMENT unless it is exactly one JSON value or
 * byte string. It runs before the decoder: nested headers of a few bytes can claim billions of values.
 */
export function scanMsgPack(given: Uint8Array): void {
  const bytes = Buffer.from(given.buffer, given.byteOffset, given.byteLength);
  if (bytes.length === 0) throw refuse(0, "the body is empty");
  /** The containers around the next value. A map needs twice as many values as it has entries. */
  const open: { readonly isMap: boolean; needs: number }[] = [];
  let at = 0;
  let values = 0;
  do {
    if (at >= bytes.length) throw refuse(at, "the body ends inside a value");
    if (++values > MAX_VALUES) throw refuse(at, `more than ${MAX_VALUES} values`);
    const { kind, start, length } = readHead(bytes, at);
    const around = open.at(-1);
    if (around?.isMap && around.needs % 2 === 0 && kind !== "str") throw refuse(at, "a key is not a string");
    if (around) around.needs -= 1;
    if (kind === "array" || kind === "map") {
      const needs = kind === "map" ? length * 2 : length;
      // Every value takes at least a byte, so a count above the rest of the body is invalid.
      if (needs > bytes.length - start)
        throw refuse(start, `${needs} values cannot be in ${bytes.length - start} bytes`);
      if (open.length === MAX_DEPTH) throw refuse(at, `values are nested deeper than ${MAX_DEPTH}`);
      open.push({ isMap: kind === "map", needs });
      at = start;
    } else {
      const end = start + length;
      if (end > bytes.length) throw refuse(at, "the body ends inside a value");
      if (kind === "str" && !isUtf8(bytes.subarray(start, end))) throw refuse(start, "a string is not UTF-8");
      if (kind === "wide" && !isSafe(bytes, at)) throw refuse(start, "an integer is beyond 2^53");
      at = end;
    }
    while (open.at(-1)?.needs === 0) open.pop();
  } while (open.length > 0);
  if (at < bytes.length) throw refuse(at, `${bytes.length - at} bytes follow the value`);
}

/** A number holds 53 bits exactly. */
function isSafe(bytes: Buffer, at: number): boolean {
  const high = bytes[at] === INT64 ? bytes.readInt32BE(at + 1) : bytes.readUInt32BE(at + 1);
  return high >= -0x200000 && high <= 0x1fffff;
}

const refuse = (at: number, message: string) =>
  new ToolError("INVALID_ARGUMENT", `malformed MsgPack body at byte ${at}: ${message}`, {
    issues: [{ path: `body byte ${at}`, message }],
  });
