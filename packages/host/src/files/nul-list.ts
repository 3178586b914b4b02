import { fromNative, type Path } from "../path.ts";

/** The fields of a list in which a NUL ends each. */
export function splitNul(bytes: Buffer): Path[] {
  const fields: Path[] = [];
  for (let start = 0; start < bytes.length; ) {
    const end = bytes.indexOf(0, start);
    if (end < 0) break;
    fields.push(fromNative(bytes.subarray(start, end)));
    start = end + 1;
  }
  return fields;
}
