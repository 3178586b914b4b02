import { type Options, Packr } from "msgpackr";
import { scanMsgPack } from "./scan.ts";
import { widenIntegers } from "./wide-integers.ts";

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
