import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { replaceFile } from "@octant/host";
import { type AuditKey, seal, unseal } from "./seal.ts";
import { unlessGone } from "./unless-gone.ts";

/** How far a chain had come, written outside the log's folder: a chain removed with its head is still missed. */
export interface Witness {
  readonly chain: string;
  readonly seq: number;
}

const NAME = /^(.+)\.witness$/;
const PRIVATE = 0o600;

export const witnessName = (chain: string): string => `${chain}.witness`;

/** Only the writer of a chain writes its witness, after the records. */
export function writeWitness(folder: string, key: AuditKey, witness: Witness): void {
  const path = join(folder, witnessName(witness.chain));
  replaceFile(path, encodeWitness(key, witness), { mode: PRIVATE, durable: false });
}

/** Every chain that has a witness; `seq` is undefined where the witness was changed. */
export function loadWitnesses(folder: string, key: AuditKey): ReadonlyMap<string, number | undefined> {
  const chains = readdirSync(folder).flatMap((name) => NAME.exec(name)?.[1] ?? []);
  return new Map(chains.sort().map((chain) => [chain, loadWitness(folder, key, chain)?.seq]));
}

function loadWitness(folder: string, key: AuditKey, chain: string): Witness | undefined {
  const bytes = unlessGone(() => readFileSync(join(folder, witnessName(chain))));
  // Only encodeWitness can have sealed it.
  const witness = bytes && (unseal(key, bytes.subarray(0, -1)) as Witness | undefined);
  return witness?.chain === chain ? witness : undefined;
}

const encodeWitness = (key: AuditKey, { chain, seq }: Witness): string =>
  `${seal(key, JSON.stringify({ chain, seq })).text}\n`;
