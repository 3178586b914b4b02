import { readdirSync } from "node:fs";
import { join } from "node:path";
import { replaceFile } from "@octant/host";
import { type Position, startOf } from "./chain-check.ts";
import { anchorName, type HeadFile, headName, unlessGone } from "./names.ts";
import { type AuditKey, encodeSealed, loadSealed } from "./seal.ts";

const PRIVATE = 0o600;

/** How far a chain has come. It never is ahead of the records, so that records missing at the end are noticed. */
export interface Head extends Position {
  readonly chain: string;
  readonly part: number;
  /** Bytes of that part. */
  readonly size: number;
}

/** Always the same, so that the new one replaces the old one wholly, in one write. */
const HEAD_BYTES = 256;

export const encodeHead = (key: AuditKey, head: Head): string => encodeSealed(key, head, HEAD_BYTES);

/** Undefined when it was changed. Throws the system's error when it cannot be read, as when it was renamed meanwhile. */
export const loadHead = (folder: string, file: HeadFile, key: AuditKey): Head | undefined =>
  loadSealed(join(folder, headName(file)), key, file.chain, HEAD_BYTES);

/** Where a chain begins: after this position, with this part. Earlier parts were removed by our retention. */
export interface Anchor extends Position {
  readonly chain: string;
  readonly part: number;
}

/** The start of the chain when nothing was removed; undefined when the anchor was tampered with. */
export function loadAnchor(folder: string, key: AuditKey, chain: string): Anchor | undefined {
  const path = join(folder, anchorName(chain));
  const found = unlessGone(() => ({ anchor: loadSealed<Anchor>(path, key, chain) }));
  return found ? found.anchor : { chain, part: 1, ...startOf(key, chain) };
}

/** Synced when it returns; only then may earlier parts be removed. */
export const writeAnchor = (folder: string, key: AuditKey, anchor: Anchor): void =>
  replaceFile(join(folder, anchorName(anchor.chain)), encodeSealed(key, anchor), { mode: PRIVATE });

/** How far a chain had come, written outside the log's folder: a chain removed with its head is still missed. */
export interface Witness {
  readonly chain: string;
  readonly seq: number;
}

export const witnessName = (chain: string): string => `${chain}.witness`;

/** Only the writer of a chain writes its witness, after the records. */
export const writeWitness = (folder: string, key: AuditKey, witness: Witness): void =>
  replaceFile(join(folder, witnessName(witness.chain)), encodeSealed(key, witness), {
    mode: PRIVATE,
    durable: false,
  });

/** Every chain that has a witness; `seq` is undefined where the witness was changed. */
export function loadWitnesses(folder: string, key: AuditKey): ReadonlyMap<string, number | undefined> {
  const chains = readdirSync(folder).flatMap((name) => /^(.+)\.witness$/.exec(name)?.[1] ?? []);
  const seqOf = (chain: string) =>
    unlessGone(() => loadSealed<Witness>(join(folder, witnessName(chain)), key, chain))?.seq;
  return new Map(chains.sort().map((chain) => [chain, seqOf(chain)]));
}
