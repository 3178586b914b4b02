import type { DatabaseSync } from "node:sqlite";
import { setImmediate as nextTurn } from "node:timers/promises";
import { ChainCheck, type Position, startOf, toMissing } from "./chain-check.ts";
import type { AuditKey } from "./seal.ts";
import { chainFile, isBroken, listChains, openTables, readEnd } from "./tables.ts";
import { loadWitnesses, witnessName } from "./witness.ts";

export interface AuditVerdict {
  readonly ok: boolean;
  readonly chains: number;
  readonly records: number;
  /** Records removed by retention. */
  readonly dropped: number;
  readonly problems: readonly AuditProblem[];
}

export interface AuditProblem {
  readonly file: string;
  /** The number of the record. */
  readonly line: number | null;
  readonly what: string;
}

const MAX_PROBLEMS = 100;

/**
 * Detects records that were changed, removed, moved or added. `witnesses` is the folder that
 * remembers each chain; only a state folder restored as a whole to an earlier state looks intact. Other
 * processes may write meanwhile.
 */
export async function verifyAudit(folder: string, key: AuditKey, witnesses?: string): Promise<AuditVerdict> {
  // Witnesses follow the records, so records listed later can only be more.
  const witnessed = witnesses === undefined ? [] : loadWitnesses(witnesses, key);
  const checked = new Map<string, CheckedChain>();
  for (const chain of listChains(folder)) checked.set(chain, await checkChain(folder, key, chain));
  const all = [...checked.values()];
  const problems = all.flatMap((chain) => chain.problems);
  for (const [chain, seq] of witnessed) {
    const what = checkWitness(chain, seq, checked.get(chain));
    if (what !== undefined) problems.push({ file: witnessName(chain), line: null, what });
  }
  return {
    ok: problems.length === 0,
    chains: all.length,
    records: all.reduce((sum, { records }) => sum + records, 0),
    dropped: all.reduce((sum, { dropped }) => sum + dropped, 0),
    problems: problems.slice(0, MAX_PROBLEMS),
  };
}

interface CheckedChain {
  /** Of the last intact record. */
  readonly seq: number;
  readonly records: number;
  readonly dropped: number;
  readonly problems: readonly AuditProblem[];
}

async function checkChain(folder: string, key: AuditKey, chain: string): Promise<CheckedChain> {
  const file = chainFile(chain);
  const problems: AuditProblem[] = [];
  const report = (what: string, line: number | null = null) => problems.push({ file, line, what });
  let db: DatabaseSync | undefined;
  try {
    db = openTables(folder, chain);
    // One state of the file, whatever others write meanwhile.
    db.exec("BEGIN");
    const first = readEnd(db, key, chain, "first");
    if (!first) report("the beginning of this chain was changed");
    const { seq, records } = await checkRecords(db, key, first ?? startOf(key, chain), report);
    const last = readEnd(db, key, chain, "last");
    // A writer that was killed at its start leaves neither.
    if (!last && seq > 0) report("the end of this chain was changed or removed");
    if (last && last.seq < seq) report("records were added after the end", seq);
    if (last && last.seq > seq) report(`at the end, ${toMissing(seq + 1, last.seq)} missing`, seq);
    return { seq, records, dropped: first?.seq ?? 0, problems };
  } catch (cause) {
    if (!isBroken(cause)) throw cause;
    report("the file is damaged");
    return { seq: 0, records: 0, dropped: 0, problems };
  } finally {
    db?.close();
  }
}

const RECORDS_PER_TURN = 1_000;

async function checkRecords(
  db: DatabaseSync,
  key: AuditKey,
  start: Position,
  report: (what: string, line: number) => void,
) {
  let records = 0;
  let line = 0;
  const check = new ChainCheck(key, start, (what) => report(what, line));
  for (const { seq, record } of db.prepare("SELECT seq, record FROM records ORDER BY seq").iterate()) {
    line = Number(seq);
    const found = check.next(record);
    if (!found) continue;
    if (found.seq !== line) report(`record ${found.seq} is out of place`, line);
    // The writers of this process continue meanwhile.
    if (records++ % RECORDS_PER_TURN === 0) await nextTurn();
  }
  return { seq: check.position.seq, records };
}

function checkWitness(
  chain: string,
  seq: number | undefined,
  known: CheckedChain | undefined,
): string | undefined {
  if (seq === undefined) return "the witness of this chain was changed";
  if (!known) return `chain ${chain} is missing; its last record was ${seq}`;
  return known.seq >= seq ? undefined : `${toMissing(known.seq + 1, seq)} gone from chain ${chain}`;
}
