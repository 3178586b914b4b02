import { join } from "node:path";
import { ChainCheck, startOf, toMissing } from "./chain-check.ts";
import { type Anchor, loadAnchor, loadSteadyHead, loadWitnesses, witnessName } from "./chain-files.ts";
import { linesOf } from "./lines.ts";
import { anchorName, FREE, headName, isAbandoned, listAuditFiles, partName } from "./names.ts";
import type { AuditKey } from "./seal.ts";

export interface AuditVerdict {
  readonly ok: boolean;
  readonly chains: number;
  readonly records: number;
  /** Records removed by retention. */
  readonly dropped: number;
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
 * Detects records that were changed, removed, moved or added. `witnesses` is the folder that
 * remembers each chain; only a state folder restored as a whole to an earlier state looks intact. Other
 * processes may write meanwhile.
 */
export async function verifyAudit(folder: string, key: AuditKey, witnesses?: string): Promise<AuditVerdict> {
  const problems: AuditProblem[] = [];
  const torn: AuditProblem[] = [];
  const report: Report = (file, line, what) => {
    if (problems.length < MAX_PROBLEMS) problems.push({ file, line, what });
  };
  // Witnesses follow the records, so records listed later can only be more.
  const witnessed = witnesses === undefined ? [] : loadWitnesses(witnesses, key);
  const { heads, parts, anchors } = listAuditFiles(folder);
  const names = [...new Set([...heads.map(({ chain }) => chain), ...parts.keys(), ...anchors])].sort();
  const checked = new Map<string, CheckedChain>();
  for (const chain of names) checked.set(chain, await checkSteadily(folder, key, chain, report, torn));
  for (const { claims } of checked.values())
    for (const claim of claims) await checkClaim(folder, key, claim, checked, report);
  for (const [chain, seq] of witnessed) {
    const at = { file: witnessName(chain), line: null, chain };
    if (seq === undefined) report(at.file, null, "the witness of this chain was changed");
    else await checkClaim(folder, key, { ...at, seq }, checked, report);
  }
  const sum = (member: "records" | "dropped") =>
    checked.values().reduce((all, chain) => all + chain[member], 0);
  const [records, dropped] = [sum("records"), sum("dropped")];
  return { ok: problems.length === 0, chains: names.length, records, dropped, problems, torn };
}

type Report = (file: string, line: number | null, what: string) => void;

interface CheckedChain {
  /** Of the last intact record. */
  readonly seq: number;
  readonly records: number;
  readonly dropped: number;
  readonly claims: readonly Claim[];
}

/** The length of a chain as recorded by another one. */
interface Claim {
  readonly file: string;
  readonly line: number | null;
  readonly chain: string;
  readonly seq: number;
}

const TRIES = 5;

/** Retention may remove parts during the check, so an apparent problem is checked again. */
async function checkSteadily(
  folder: string,
  key: AuditKey,
  chain: string,
  report: Report,
  torn: AuditProblem[],
): Promise<CheckedChain> {
  for (let tries = 1; ; tries++) {
    const anchor = loadAnchor(folder, key, chain);
    const problems: Parameters<Report>[] = [];
    const pieces: AuditProblem[] = [];
    const checked = await checkChain(
      folder,
      key,
      chain,
      anchor,
      (...problem) => problems.push(problem),
      pieces,
    );
    const isSteady = loadAnchor(folder, key, chain)?.seq === anchor?.seq;
    if (problems.length > 0 && !isSteady && tries < TRIES) continue;
    for (const problem of problems) report(...problem);
    torn.push(...pieces);
    return checked;
  }
}

async function checkChain(
  folder: string,
  key: AuditKey,
  chain: string,
  anchor: Anchor | undefined,
  report: Report,
  torn: AuditProblem[],
): Promise<CheckedChain> {
  if (!anchor) report(anchorName(chain), null, "where the chain begins was changed");
  const begin = anchor ?? { chain, part: 1, ...startOf(key, chain) };
  // Records are written before the head, so that they can only be more than a head that was read before them.
  const head = await loadSteadyHead(folder, key, chain);
  const { tail, leftBytes, ...checked } = await checkRecords(folder, key, begin, report);
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

async function checkRecords(folder: string, key: AuditKey, begin: Anchor, report: Report) {
  const { chain } = begin;
  const claims: Claim[] = [];
  let records = 0;
  let before = begin.part - 1;
  let tail = { file: partName(chain, begin.part), line: 0 };
  const describe = (what: string) => report(tail.file, tail.line, what);
  const check = new ChainCheck(key, begin, describe, begin.part);
  const parts = listAuditFiles(folder).parts.get(chain) ?? [];
  // A leftover of removed parts is ignored.
  for (const part of parts.filter((one) => one >= begin.part)) {
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
  const leftBytes = check.pieces.reduce((sum, { bytes }) => sum + bytes, 0);
  return { seq: check.position.seq, records, dropped: begin.seq, claims, tail, leftBytes };
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
  if (!known) report(file, line, `chain ${chain} is missing; its last record was ${seq}`);
  else report(file, line, `${toMissing(known.seq + 1, seq)} gone from chain ${chain}`);
}
