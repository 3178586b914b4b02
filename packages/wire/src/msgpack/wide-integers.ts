const DOUBLE = 0xcb;
const INT64 = 0xd3;

/**
 * Rewrites doubles that hold an integer beyond 32 bits as integers of 64 bits, in place: msgpackr writes such numbers as
 * doubles, and typed languages then refuse them where a sequence number or a time is expected.
 */
export function widenIntegers(bytes: Buffer): Buffer {
  if (!bytes.includes(DOUBLE)) return bytes;
  for (let at = 0; at < bytes.length; ) {
    const head = bytes.readUInt8(at);
    if (head === DOUBLE) widen(bytes, at);
    at += sizeOf(bytes, at, head);
  }
  return bytes;
}

function widen(bytes: Buffer, at: number): void {
  const value = bytes.readDoubleBE(at + 1);
  if (!Number.isSafeInteger(value)) return;
  bytes.writeUInt8(INT64, at);
  bytes.writeBigInt64BE(BigInt(value), at + 1);
}

/** The bytes of the value that starts here; of a container only its head, because its content follows. */
function sizeOf(bytes: Buffer, at: number, head: number): number {
  if (head >= 0xa0 && head <= 0xbf) return 1 + (head & 0x1f);
  if (head === 0xc4 || head === 0xd9) return 2 + bytes.readUInt8(at + 1);
  if (head === 0xc5 || head === 0xda) return 3 + bytes.readUInt16BE(at + 1);
  if (head === 0xc6 || head === 0xdb) return 5 + bytes.readUInt32BE(at + 1);
  return FIXED.get(head) ?? 1;
}

const FIXED: ReadonlyMap<number, number> = new Map([
  [0xca, 5],
  [0xcb, 9],
  [0xcc, 2],
  [0xcd, 3],
  [0xce, 5],
  [0xcf, 9],
  [0xd0, 2],
  [0xd1, 3],
  [0xd2, 5],
  [0xd3, 9],
  [0xdc, 3],
  [0xdd, 5],
  [0xde, 3],
  [0xdf, 5],
]);
