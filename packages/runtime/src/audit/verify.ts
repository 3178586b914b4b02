import { join } from "node:path";
import { createChainCheck, startOf, toMissing } from "./chain-check.ts";
import { linesOf } from "./lines.ts";
import { FREE, headName, isAbandoned, listAuditFiles, partName } from "./names.ts";
import type { AuditKey } from "./seal.ts";
import { loadSteadyHead } from "./steady-head.ts";

export interface AuditVerdict {
  readonly ok: boolean;
  readonly chains: number;
  readonly records: number;
  readonly problems: readonly AuditProblem[];
  /** Lines that a killed writer left half written: no sign of tampering. */
  readonly torn: readonly AuditProblem[];
}

export interface AuditProblem {
  readonly file: string;
  readonly line: number | null;
  readonly what: string;
}

const MAX_PROBLEMS = 100;

/**
 * Finds whatever was changed, removed, moved or added since the records were written; only a whole folder that was
 * put back to an earlier state looks like what it was then. Others may go on writing meanwhile.
 */
export async function verifyAudit(folder: string, key: AuditKey): Promise<AuditVerdict> {
  const problems: AuditProblem[] = [];
  const torn: AuditProblem[] = [];
  const report: Report = (file, line, what) => {
    if (problems.length < MAX_PROBLEMS) problems.push({ file, line, what });
  };
  const { heads, parts } = listAuditFiles(folder);
  const names = [...new Set([...heads.map(({ chain }) => chain), ...parts.keys()])].sort();
  const checked = new Map<string, CheckedChain>();
  for (const chain of names) checked.set(chain, await checkChain(folder, key, chain, report, torn));
  for (const { claims } of checked.values())
    for (const claim of claims) await checkClaim(folder, key, claim, checked, report);
  const records = [...checked.values()].reduce((sum, chain) => sum + chain.records, 0);
  return { ok: problems.length === 0, chains: names.length, records, problems, torn };
}

type Report = (file: string, line: number | null, what: string) => void;

interface CheckedChain {
  /** Of the last intact record. */
  readonly seq: number;
  readonly records: number;
  readonly claims: readonly Claim[];
}

/** That a chain had come so far, as another one tells. */
interface Claim {
  readonly file: string;
  readonly line: number;
  readonly chain: string;
  readonly seq: number;
}

async function checkChain(
  folder: string,
  key: AuditKey,
  chain: string,
  report: Report,
  torn: AuditProblem[],
): Promise<CheckedChain> {
  // Records are written before the head, so that they can only be more than a head that was read before them.
  const head = await loadSteadyHead(folder, key, chain);
  const { tail, leftBytes, ...checked } = await checkRecords(folder, key, chain, report);
  const { file, line } = tail;
  if (!head) {
    report(file, null, "the head of this chain is missing");
    return checked;
  }
  const headFile = headName({ chain, owner: head.owner });
  if (head.count > 1) report(headFile, null, "the chain has more than one head");
  if (!head.known) report(headFile, null, "the head was changed");
  else if (head.known.seq > checked.seq)
    report(file, line, `at the end, ${toMissing(checked.seq + 1, head.known.seq)} missing`);
  if (leftBytes > 0 && isAbandoned(head.owner)) {
    const what = `${leftBytes} bytes after the last record`;
    if (head.owner === FREE) report(file, line, `${what}, though the chain was closed properly`);
    else torn.push({ file, line, what: `${what}: its writer was killed` });
  }
  return checked;
}

async function checkRecords(folder: string, key: AuditKey, chain: string, report: Report) {
  const claims: Claim[] = [];
  let records = 0;
  let before = 0;
  let tail = { file: partName(chain, 1), line: 0 };
  const check = createChainCheck(key, startOf(key, chain), (what) => report(tail.file, tail.line, what));
  for (const part of listAuditFiles(folder).parts.get(chain) ?? []) {
    const file = partName(chain, part);
    if (part !== before + 1) report(file, null, `part ${before + 1} of this chain is missing`);
    before = part;
    tail = { file, line: 0 };
    for await (const { bytes, complete } of linesOf(join(folder, file))) {
      tail = { file, line: tail.line + 1 };
      if (!complete) {
        check.piece(part, bytes);
        continue;
      }
      const record = check.line(bytes);
      if (!record) continue;
      records += 1;
      if (record.kind === "open")
        for (const [other, seq] of Object.entries(record.chains)) claims.push({ ...tail, chain: other, seq });
    }
  }
  const leftBytes = check.pieces().reduce((sum, { bytes }) => sum + bytes, 0);
  return { seq: check.position().seq, records, claims, tail, leftBytes };
}

async function checkClaim(
  folder: string,
  key: AuditKey,
  { file, line, chain, seq }: Claim,
  checked: ReadonlyMap<string, CheckedChain>,
  report: Report,
): Promise<void> {
  const known = checked.get(chain);
  if ((known?.seq ?? 0) >= seq) return;
  // It may have been written since it was checked, or begun.
  const head = await loadSteadyHead(folder, key, chain);
  if (head?.known && head.known.seq >= seq) return;
  if (!known) report(file, line, `chain ${chain}, known here, is gone`);
  else report(file, line, `${toMissing(known.seq + 1, seq)} gone from chain ${chain}`);
}
