import { type Options, Packr } from "msgpackr";
import { scanMsgPack } from "./scan.ts";

/** Without records, which are msgpackr's own and stateful: any MsgPack library reads what we write. */
const OPTIONS = {
  useRecords: false,
  variableMapSize: true,
  mapsAsObjects: true,
  int64AsType: "number",
  // As JSON has it: a field that is undefined is absent, and an element that is undefined is null.
  skipValues: [undefined],
  encodeUndefinedAsNil: true,
} as const;
// Its types lack `skipValues`, which its documentation has.
const packr = new Packr(OPTIONS as unknown as Options);

export const encodeMsgPack = (value: unknown): Buffer => packr.pack(value);

/** Throws INVALID_ARGUMENT on bytes that are not one plain value. */
export function parseMsgPack(bytes: Uint8Array): unknown {
  scanMsgPack(bytes);
  return packr.unpack(bytes);
}
