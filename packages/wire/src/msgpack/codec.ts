import { type Options, Packr } from "msgpackr";
import { DOUBLE, INT64, readHead, scanMsgPack } from "./scan.ts";

/** Without records, which are specific to msgpackr and stateful: any MsgPack library can read our output. */
const OPTIONS = {
  useRecords: false,
  variableMapSize: true,
  mapsAsObjects: true,
  int64AsType: "number",
  // Like JSON: an undefined field is absent, and an undefined element is null.
  skipValues: [undefined],
  encodeUndefinedAsNil: true,
} as const;
// The types lack `skipValues`, which is documented.
const packr = new Packr(OPTIONS as unknown as Options);

export const encodeMsgPack = (value: unknown): Buffer => widenIntegers(packr.pack(value));

/** Throws INVALID_ARGUMENT unless the bytes are exactly one plain value. */
export function parseMsgPack(bytes: Uint8Array): unknown {
  scanMsgPack(bytes);
  return packr.unpack(bytes);
}

/**
 * Rewrites doubles that hold an integer beyond 32 bits as integers of 64 bits, in place: msgpackr writes such numbers as
 * doubles, and typed languages then refuse them where a sequence number or a time is expected.
 */
function widenIntegers(bytes: Buffer): Buffer {
  if (!bytes.includes(DOUBLE)) return bytes;
  for (let at = 0; at < bytes.length; ) {
    const { kind, start, length } = readHead(bytes, at);
    const value = bytes[at] === DOUBLE ? bytes.readDoubleBE(start) : undefined;
    if (Number.isSafeInteger(value)) {
      bytes.writeUInt8(INT64, at);
      bytes.writeBigInt64BE(BigInt(Number(value)), start);
    }
    // The content of a container follows its head.
    at = kind === "array" || kind === "map" ? start : start + length;
  }
  return bytes;
}
