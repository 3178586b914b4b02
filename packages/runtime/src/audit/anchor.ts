import { readFileSync } from "node:fs";
import { join } from "node:path";
import { replaceFile } from "@octant/host";
import { type Position, startOf } from "./chain-check.ts";
import { anchorName } from "./names.ts";
import { type AuditKey, seal, unseal } from "./seal.ts";
import { unlessGone } from "./unless-gone.ts";

/** Where a chain begins: after this position, with this part. Earlier parts were removed by our retention. */
export interface Anchor extends Position {
  readonly chain: string;
  readonly part: number;
}

const PRIVATE = 0o600;

/** The start of the chain when nothing was removed; undefined when the anchor was tampered with. */
export function loadAnchor(folder: string, key: AuditKey, chain: string): Anchor | undefined {
  const bytes = unlessGone(() => readFileSync(join(folder, anchorName(chain))));
  if (!bytes) return { chain, part: 1, ...startOf(key, chain) };
  // Only encodeAnchor can have sealed it.
  const anchor = unseal(key, bytes.subarray(0, -1)) as Anchor | undefined;
  return anchor?.chain === chain && encodeAnchor(key, anchor) === bytes.toString("utf8") ? anchor : undefined;
}

/** Synced when it returns; only then may earlier parts be removed. */
export function writeAnchor(folder: string, key: AuditKey, anchor: Anchor): void {
  replaceFile(join(folder, anchorName(anchor.chain)), encodeAnchor(key, anchor), { mode: PRIVATE });
}

const encodeAnchor = (key: AuditKey, { chain, part, seq, last }: Anchor): string =>
  `${seal(key, JSON.stringify({ chain, part, seq, last })).text}\n`;
