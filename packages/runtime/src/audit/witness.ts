import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { replaceFile } from "@octant/host";
import { type AuditKey, seal, unseal } from "./seal.ts";
import { chainFile } from "./tables.ts";

const PRIVATE = 0o600;

/** How many records a chain had. */
interface Length {
  readonly chain: string;
  readonly seq: number;
}

export const witnessName = (chain: string): string => `${chainFile(chain)}.witness`;

/** Outside the log's folder, so that the removal of a chain is detected. Written after the records that it counts. */
export const writeWitness = (folder: string, key: AuditKey, { chain, seq }: Length): void =>
  replaceFile(join(folder, witnessName(chain)), seal(key, JSON.stringify({ chain, seq })).text, {
    mode: PRIVATE,
    durable: false,
  });

/** Every chain that has a witness; `seq` is undefined where the witness was changed. */
export function loadWitnesses(folder: string, key: AuditKey): ReadonlyMap<string, number | undefined> {
  const chains = readdirSync(folder).flatMap((name) => /^(.+)\.db\.witness$/.exec(name)?.[1] ?? []);
  const seqOf = (chain: string) => {
    // Only writeWitness can have sealed it.
    const length = unseal(key, readFileSync(join(folder, witnessName(chain)), "utf8")) as Length | undefined;
    return length?.chain === chain ? length.seq : undefined;
  };
  return new Map(chains.sort().map((chain) => [chain, seqOf(chain)]));
}
