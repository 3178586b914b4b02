import { join } from "node:path";
import { setTimeout as delay, setImmediate as nextTurn } from "node:timers/promises";
import { ChainCheck, startOf, toMissing } from "./chain-check.ts";
import { type Anchor, loadAnchor, loadHead, loadWitnesses, witnessName } from "./chain-files.ts";
import { readLines } from "./lines.ts";
import { anchorName, FREE, headName, isAbandoned, listAuditFiles, partName, unlessGone } from "./names.ts";
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
  // Witnesses follow the records, so records listed later can only be more.
  const witnessed = witnesses === undefined ? [] : loadWitnesses(witnesses, key);
  const { heads, parts, anchors } = listAuditFiles(folder);
  const names = [...new Set([...heads.map(({ chain }) => chain), ...parts.keys(), ...anchors])].sort();
  const checked = new Map<string, CheckedChain>();
  for (const chain of names) checked.set(chain, await checkSteadily(folder, key, chain));
  const all = [...checked.values()];
  const problems = all.flatMap((chain) => chain.problems);
  const claims = all.flatMap((chain) => chain.claims);
  for (const [chain, seq] of witnessed) {
    const at = { file: witnessName(chain), line: null };
    if (seq === undefined) problems.push({ ...at, what: "the witness of this chain was changed" });
    else claims.push({ ...at, chain, seq });
  }
  for (const claim of claims)
    problems.push(...(await checkClaim(folder, key, claim, checked.get(claim.chain))));
  return {
    ok: problems.length === 0,
    chains: names.length,
    records: all.reduce((sum, { records }) => sum + records, 0),
    dropped: all.reduce((sum, { dropped }) => sum + dropped, 0),
    problems: problems.slice(0, MAX_PROBLEMS),
    torn: all.flatMap(({ torn }) => torn),
  };
}

interface CheckedChain {
  /** Of the last intact record. */
  readonly seq: number;
  readonly records: number;
  readonly dropped: number;
  /** Whether a process may be writing to it. */
  readonly isWritten: boolean;
  readonly claims: readonly Claim[];
  readonly problems: AuditProblem[];
  readonly torn: AuditProblem[];
}

/** The length of a chain as recorded by another one. */
interface Claim {
  readonly file: string;
  readonly line: number | null;
  readonly chain: string;
  readonly seq: number;
}

const TRIES = 5;
const PAUSE_MS = 10;

/** Heads are renamed and rewritten, and old parts removed, during the check, so an apparent problem is checked again. */
async function checkSteadily(folder: string, key: AuditKey, chain: string): Promise<CheckedChain> {
  // The writers of this process go on between two chains.
  await nextTurn();
  for (let tries = 1; ; tries++) {
    const anchor = loadAnchor(folder, key, chain);
    const checked = checkChain(folder, key, chain, anchor);
    const isSteady = !checked.isWritten && loadAnchor(folder, key, chain)?.seq === anchor?.seq;
    if (checked.problems.length === 0 || isSteady || tries === TRIES) return checked;
    await delay(PAUSE_MS);
  }
}

function checkChain(folder: string, key: AuditKey, chain: string, anchor: Anchor | undefined): CheckedChain {
  // Records are written before the head, so that they can only be more than a head that was read before them.
  const [head, ...others] = listAuditFiles(folder).heads.filter((one) => one.chain === chain);
  const known = head && unlessGone(() => loadHead(folder, head, key));
  const begin = anchor ?? { chain, part: 1, ...startOf(key, chain) };
  const { tail, leftBytes, ...records } = checkRecords(folder, key, begin);
  const isWritten = !head || !isAbandoned(head.owner);
  const checked: CheckedChain = { ...records, torn: [], isWritten };
  const { problems, torn } = checked;
  const report = (what: string, at: Omit<AuditProblem, "what"> = tail) => problems.push({ ...at, what });
  if (!anchor)
    problems.unshift({ file: anchorName(chain), line: null, what: "where the chain begins was changed" });
  if (!head) {
    report("the head of this chain is missing", { file: tail.file, line: null });
    return checked;
  }
  const headFile = { file: headName(head), line: null };
  if (others.length > 0) report("the chain has more than one head", headFile);
  if (!known) report("the head was changed", headFile);
  else if (known.seq > checked.seq) report(`at the end, ${toMissing(checked.seq + 1, known.seq)} missing`);
  if (leftBytes > 0 && !isWritten) {
    const what = `${leftBytes} bytes after the last record`;
    if (head.owner === FREE) report(`${what}, though the chain was closed properly`);
    else torn.push({ ...tail, what: `${what}: its writer was killed` });
  }
  return checked;
}

function checkRecords(folder: string, key: AuditKey, begin: Anchor) {
  const { chain } = begin;
  const problems: AuditProblem[] = [];
  const claims: Claim[] = [];
  let records = 0;
  let before = begin.part - 1;
  let tail = { file: partName(chain, begin.part), line: 0 };
  const check = new ChainCheck(key, begin, (what) => problems.push({ ...tail, what }), begin.part);
  const parts = listAuditFiles(folder).parts.get(chain) ?? [];
  // A leftover of removed parts is ignored.
  for (const part of parts.filter((one) => one >= begin.part)) {
    const file = partName(chain, part);
    if (part !== before + 1)
      problems.push({ file, line: null, what: `part ${before + 1} of this chain is missing` });
    before = part;
    tail = { file, line: 0 };
    const { lines = [], rest = NO_BYTES } = unlessGone(() => readLines(join(folder, file))) ?? {};
    for (const line of lines) {
      tail = { file, line: tail.line + 1 };
      const record = check.line(line);
      if (!record) continue;
      records += 1;
      if (record.kind === "open")
        for (const [other, seq] of Object.entries(record.chains)) claims.push({ ...tail, chain: other, seq });
    }
    if (rest.length === 0) continue;
    tail = { file, line: tail.line + 1 };
    check.piece(part, rest);
  }
  const leftBytes = check.pieces.reduce((sum, { bytes }) => sum + bytes, 0);
  return { seq: check.position.seq, records, dropped: begin.seq, claims, problems, tail, leftBytes };
}

const NO_BYTES = Buffer.alloc(0);

async function checkClaim(
  folder: string,
  key: AuditKey,
  { file, line, chain, seq }: Claim,
  known: CheckedChain | undefined,
): Promise<AuditProblem[]> {
  if ((known?.seq ?? 0) >= seq) return [];
  // It may have been written since it was checked, or begun.
  if ((await checkSteadily(folder, key, chain)).seq >= seq) return [];
  const what = known
    ? `${toMissing(known.seq + 1, seq)} gone from chain ${chain}`
    : `chain ${chain} is missing; its last record was ${seq}`;
  return [{ file, line, what }];
}
