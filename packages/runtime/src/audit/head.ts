import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type HeadFile, headName } from "./names.ts";
import { type AuditKey, seal, unseal } from "./seal.ts";

/** How far a chain has come. It never is ahead of the records, so that records missing at the end are noticed. */
export interface Head {
  readonly chain: string;
  readonly seq: number;
  /** `hash` of the record with that number. */
  readonly last: string;
  readonly part: number;
  /** Bytes of that part. */
  readonly size: number;
}

/** Always the same, so that the new one replaces the old one wholly, in one write. */
const HEAD_BYTES = 256;

export function encodeHead(key: AuditKey, { chain, seq, last, part, size }: Head): string {
  const { text } = seal(key, JSON.stringify({ chain, seq, last, part, size }));
  return `${text.padEnd(HEAD_BYTES - 1)}\n`;
}

/** Undefined when it was changed. Throws the system's error when it cannot be read, as when it was renamed meanwhile. */
export function loadHead(folder: string, file: HeadFile, key: AuditKey): Head | undefined {
  const bytes = readFileSync(join(folder, headName(file)));
  const end = bytes.lastIndexOf("}") + 1;
  // Only encodeHead can have sealed it.
  const head = unseal(key, bytes.subarray(0, end)) as Head | undefined;
  if (head?.chain !== file.chain || encodeHead(key, head) !== bytes.toString("utf8")) return undefined;
  return head;
}
