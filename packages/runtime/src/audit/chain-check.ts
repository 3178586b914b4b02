import type { AuditRecord } from "./record.ts";
import { type AuditKey, macOf, unseal } from "./seal.ts";

/** The state of a chain after a record. */
export interface Position {
  readonly seq: number;
  readonly last: string;
}

/** The start of a chain, derived from its name, so that records fit into no other chain. */
export const startOf = (key: AuditKey, chain: string): Position => ({
  seq: 0,
  last: macOf(key, `chain ${chain}`),
});

/** Follows a chain record by record. */
export class ChainCheck {
  readonly #key: AuditKey;
  readonly #onProblem: (what: string) => void;
  #position: Position;
  /** Changed records since the last intact one. */
  #changed = 0;

  /** `onProblem` receives everything that no writer can have written. */
  constructor(key: AuditKey, start: Position, onProblem: (what: string) => void) {
    this.#key = key;
    this.#position = { seq: start.seq, last: start.last };
    this.#onProblem = onProblem;
  }

  /** After the last intact record. */
  get position(): Position {
    return this.#position;
  }

  /** The record, unless it was changed. */
  next(text: unknown): AuditRecord | undefined {
    // Only `seal` produces a text that unseals, and it gets only records.
    const record = unseal(this.#key, text) as AuditRecord | undefined;
    if (!record) {
      this.#changed += 1;
      this.#onProblem("the record was changed");
      return undefined;
    }
    const { seq, hash: last } = record;
    const isNext = this.#changed > 0 && seq === this.#position.seq + this.#changed + 1;
    const problem = isNext ? undefined : compare(record, this.#position);
    if (problem) this.#onProblem(problem);
    this.#changed = 0;
    this.#position = { seq, last };
    return record;
  }
}

function compare(record: AuditRecord, { seq, last }: Position): string | undefined {
  if (record.seq <= seq) return `record ${record.seq} is repeated or out of place`;
  if (record.seq > seq + 1)
    return `before record ${record.seq}, ${toMissing(seq + 1, record.seq - 1)} missing`;
  return record.prev === last ? undefined : `record ${record.seq} does not follow the one before it`;
}

export const toMissing = (first: number, last: number): string =>
  first === last ? `record ${first} is` : `records ${first} to ${last} are`;
