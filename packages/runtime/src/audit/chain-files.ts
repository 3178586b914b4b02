import { readdirSync } from "node:fs";
import { join } from "node:path";
import { replaceFile } from "@octant/host";
import type { Position } from "./chain-check.ts";
import { droppedName, type HeadFile, headName, unlessGone } from "./names.ts";
import { type AuditKey, encodeSealed, loadSealed } from "./seal.ts";

const PRIVATE = 0o600;

/** How far a chain has come. It never is ahead of the records, so that records missing at the end are noticed. */
export interface Head extends Position {
  readonly chain: string;
  /** Bytes of its records. */
  readonly size: number;
}

/** Always the same, so that the new one replaces the old one wholly, in one write. */
const HEAD_BYTES = 256;

export const encodeHead = (key: AuditKey, head: Head): string => encodeSealed(key, head, HEAD_BYTES);

/** Undefined when it was changed. Throws the system's error when it cannot be read, as when it was renamed meanwhile. */
export const loadHead = (folder: string, file: HeadFile, key: AuditKey): Head | undefined =>
  loadSealed(join(folder, headName(file)), key, file.chain, HEAD_BYTES);

/** How many records a chain had: left of one that retention removed, and written as its witness. */
interface Length {
  readonly chain: string;
  readonly seq: number;
}

/** Synced when it returns; only then may the chain be removed. */
export const writeDropped = (folder: string, key: AuditKey, length: Length): void =>
  replaceFile(join(folder, droppedName(length.chain)), encodeSealed(key, length), { mode: PRIVATE });

/** "kept" when the chain was not removed; undefined when the file was tampered with. */
export const loadDropped = (folder: string, key: AuditKey, chain: string): Length | "kept" | undefined => {
  const found = unlessGone(() => ({
    length: loadSealed<Length>(join(folder, droppedName(chain)), key, chain),
  }));
  return found ? found.length : "kept";
};

export const witnessName = (chain: string): string => `${chain}.witness`;

/**
 * Outside the log's folder: a chain removed with its head is still missed. Only the writer of a chain writes its
 * witness, after the records.
 */
export const writeWitness = (folder: string, key: AuditKey, length: Length): void =>
  replaceFile(join(folder, witnessName(length.chain)), encodeSealed(key, length), {
    mode: PRIVATE,
    durable: false,
  });

/** Every chain that has a witness; `seq` is undefined where the witness was changed. */
export function loadWitnesses(folder: string, key: AuditKey): ReadonlyMap<string, number | undefined> {
  const chains = readdirSync(folder).flatMap((name) => /^(.+)\.witness$/.exec(name)?.[1] ?? []);
  const seqOf = (chain: string) =>
    unlessGone(() => loadSealed<Length>(join(folder, witnessName(chain)), key, chain))?.seq;
  return new Map(chains.sort().map((chain) => [chain, seqOf(chain)]));
}
