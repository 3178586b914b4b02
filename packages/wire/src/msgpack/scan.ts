import { isUtf8 } from "node:buffer";
import { ToolError } from "@octant/core";

export const MAX_DEPTH = 64;
/** At worst a value takes 200 times its bytes in memory, so a body of 16 MiB must not contain as many values. */
export const MAX_VALUES = 1_000_000;

/**
 * Scans a MsgPack body without building anything, and throws INVALID_ARGUMENT unless it is exactly one JSON value or
 * byte string. It runs before the decoder: nested headers of a few bytes can claim billions of values.
 */
export function scanMsgPack(bytes: Uint8Array): void {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  /** The number of values that each open container still needs; a map counts keys and values. */
  const open = new Int32Array(MAX_DEPTH + 1);
  const isMap = new Uint8Array(MAX_DEPTH + 1);
  let depth = 0;
  let at = 0;
  let values = 0;

  const need = (count: number) => {
    if (at + count > bytes.length)
      throw refuse(at, bytes.length === 0 ? "the body is empty" : "the body ends inside a value");
  };
  const u8 = () => {
    need(1);
    return view.getUint8(at++);
  };
  const u16 = () => {
    need(2);
    at += 2;
    return view.getUint16(at - 2);
  };
  const u32 = () => {
    need(4);
    at += 4;
    return view.getUint32(at - 4);
  };
  const skip = (count: number) => {
    need(count);
    at += count;
  };
  const text = (length: number) => {
    need(length);
    if (!isUtf8(bytes.subarray(at, at + length))) throw refuse(at, "a string is not UTF-8");
    at += length;
  };
  const enter = (count: number, map: boolean) => {
    const inside = map ? count * 2 : count;
    // Every value takes at least a byte, so a count above the rest of the body is invalid.
    if (inside > bytes.length - at)
      throw refuse(at, `${inside} values cannot be in ${bytes.length - at} bytes`);
    if (depth === MAX_DEPTH) throw refuse(at, `values are nested deeper than ${MAX_DEPTH}`);
    depth += 1;
    open[depth] = inside;
    isMap[depth] = map ? 1 : 0;
  };
  const wide = (signed: boolean) => {
    need(8);
    const high = signed ? view.getInt32(at) : view.getUint32(at);
    // A number holds 53 bits exactly.
    if (high < -0x200000 || high > 0x1fffff) throw refuse(at, "an integer is beyond 2^53");
    at += 8;
  };
  const value = (head: number) => {
    if (head <= 0x7f || head >= 0xe0) return;
    if (head <= 0x8f) return enter(head & 0x0f, true);
    if (head <= 0x9f) return enter(head & 0x0f, false);
    if (head <= 0xbf) return text(head & 0x1f);
    switch (head) {
      case 0xc0:
      case 0xc2:
      case 0xc3:
        return;
      case 0xc4:
        return skip(u8());
      case 0xc5:
        return skip(u16());
      case 0xc6:
        return skip(u32());
      case 0xca:
        return skip(4);
      case 0xcb:
        return skip(8);
      case 0xcc:
      case 0xd0:
        return skip(1);
      case 0xcd:
      case 0xd1:
        return skip(2);
      case 0xce:
      case 0xd2:
        return skip(4);
      case 0xcf:
        return wide(false);
      case 0xd3:
        return wide(true);
      case 0xd9:
        return text(u8());
      case 0xda:
        return text(u16());
      case 0xdb:
        return text(u32());
      case 0xdc:
        return enter(u16(), false);
      case 0xdd:
        return enter(u32(), false);
      case 0xde:
        return enter(u16(), true);
      case 0xdf:
        return enter(u32(), true);
      default:
        throw refuse(at - 1, `type 0x${head.toString(16)} is not used: extension types have no meaning here`);
    }
  };
  const isString = (head: number) => (head >= 0xa0 && head <= 0xbf) || (head >= 0xd9 && head <= 0xdb);

  do {
    const head = u8();
    if (++values > MAX_VALUES) throw refuse(at, `more than ${MAX_VALUES} values`);
    const left = open[depth] ?? 0;
    if (isMap[depth] === 1 && depth > 0 && left % 2 === 0 && !isString(head))
      throw refuse(at - 1, "a key is not a string");
    if (depth > 0) open[depth] = left - 1;
    value(head);
    while (depth > 0 && open[depth] === 0) depth -= 1;
  } while (depth > 0);
  if (at < bytes.length) throw refuse(at, `${bytes.length - at} bytes follow the value`);
}

const refuse = (at: number, message: string) =>
  new ToolError("INVALID_ARGUMENT", `malformed MsgPack body at byte ${at}: ${message}`, {
    issues: [{ path: `body byte ${at}`, message }],
  });
