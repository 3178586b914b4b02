import { hash } from "node:crypto";
import type { AuditRecord, TornPiece } from "./record.ts";
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

/** Follows a chain line by line. */
export interface ChainCheck {
  /** The record, unless it was changed. */
  line(bytes: Buffer): AuditRecord | undefined;
  /** The end of a part without a line feed, left by a killed writer. */
  piece(part: number, bytes: Buffer): void;
  /** After the last intact record. */
  position(): Position;
  /** Pieces that no record mentions. */
  pieces(): readonly TornPiece[];
}

/** `onProblem` receives everything that no writer can have written. Parts before `firstPart` are skipped. */
export function createChainCheck(
  key: AuditKey,
  start: Position,
  onProblem: (what: string) => void,
  firstPart = 1,
): ChainCheck {
  let { seq, last } = start;
  /** Changed lines since the last intact record. */
  let changed = 0;
  let pieces: TornPiece[] = [];

  const explain = (record: AuditRecord) => {
    const recorded = record.kind === "torn" ? record.pieces.filter(({ part }) => part >= firstPart) : [];
    if (JSON.stringify(recorded) !== JSON.stringify(pieces))
      onProblem("the remains of torn lines differ from their record");
    pieces = [];
  };

  return {
    line(bytes) {
      // Only `seal` produces a line that unseals, and it gets only records.
      const record = unseal(key, bytes) as AuditRecord | undefined;
      if (!record) {
        changed += 1;
        onProblem("the record was changed");
        return undefined;
      }
      const isNext = changed > 0 && record.seq === seq + changed + 1;
      const problem = isNext ? undefined : compare(record, { seq, last });
      if (problem) onProblem(problem);
      explain(record);
      changed = 0;
      seq = record.seq;
      last = record.hash;
      return record;
    },
    piece(part, bytes) {
      pieces.push({ part, bytes: bytes.length, sha256: hash("sha256", bytes, "hex") });
    },
    position: () => ({ seq, last }),
    pieces: () => pieces,
  };
}

function compare(record: AuditRecord, { seq, last }: Position): string | undefined {
  if (record.seq <= seq) return `record ${record.seq} is repeated or out of place`;
  if (record.seq > seq + 1)
    return `before record ${record.seq}, ${toMissing(seq + 1, record.seq - 1)} missing`;
  return record.prev === last ? undefined : `record ${record.seq} does not follow the one before it`;
}

export const toMissing = (first: number, last: number): string =>
  first === last ? `record ${first} is` : `records ${first} to ${last} are`;
