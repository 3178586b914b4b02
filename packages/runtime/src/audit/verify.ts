import { join } from "node:path";
import { setTimeout as delay, setImmediate as nextTurn } from "node:timers/promises";
import { ChainCheck, startOf, toMissing } from "./chain-check.ts";
import { loadDropped, loadHead, loadWitnesses, witnessName } from "./chain-files.ts";
import { readLines } from "./lines.ts";
import {
  droppedName,
  FREE,
  headName,
  isAbandoned,
  listAuditFiles,
  recordsName,
  unlessGone,
} from "./names.ts";
import type { AuditKey } from "./seal.ts";

export interface AuditVerdict {
  readonly ok: boolean;
  /** Without those that retention removed. */
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
  const { heads, chains, dropped } = listAuditFiles(folder);
  const names = new Set([...heads.map(({ chain }) => chain), ...chains, ...dropped]);
  const checked = new Map<string, CheckedChain>();
  for (const chain of [...names].sort()) checked.set(chain, await checkSteadily(folder, key, chain));
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
    chains: all.filter((chain) => chain.dropped === 0).length,
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

/** Heads are renamed and rewritten, and old chains removed, during the check, so an apparent problem is checked again. */
async function checkSteadily(folder: string, key: AuditKey, chain: string): Promise<CheckedChain> {
  // The writers of this process go on between two chains.
  await nextTurn();
  for (let tries = 1; ; tries++) {
    const dropped = checkDropped(folder, key, chain);
    if (dropped) return dropped;
    const checked = checkChain(folder, key, chain);
    const isSteady = !checked.isWritten && loadDropped(folder, key, chain) === "kept";
    if (checked.problems.length === 0 || isSteady || tries === TRIES) return checked;
    await delay(PAUSE_MS);
  }
}

/** Undefined for a chain that was not removed. What is left of a removed one does not count. */
function checkDropped(folder: string, key: AuditKey, chain: string): CheckedChain | undefined {
  const dropped = loadDropped(folder, key, chain);
  if (dropped === "kept") return undefined;
  const changed = { file: droppedName(chain), line: null, what: "the length of this chain was changed" };
  const seq = dropped?.seq ?? 0;
  const problems = dropped ? [] : [changed];
  return { seq, records: 0, dropped: seq, isWritten: false, claims: [], problems, torn: [] };
}

function checkChain(folder: string, key: AuditKey, chain: string): CheckedChain {
  // Records are written before the head, so that they can only be more than a head that was read before them.
  const [head, ...others] = listAuditFiles(folder).heads.filter((one) => one.chain === chain);
  const known = head && unlessGone(() => loadHead(folder, head, key));
  const { tail, leftBytes, ...records } = checkRecords(folder, key, chain);
  const isWritten = !head || !isAbandoned(head.owner);
  const checked: CheckedChain = { ...records, dropped: 0, torn: [], isWritten };
  const { problems, torn } = checked;
  const report = (what: string, at: Omit<AuditProblem, "what"> = tail) => problems.push({ ...at, what });
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

function checkRecords(folder: string, key: AuditKey, chain: string) {
  const file = recordsName(chain);
  const problems: AuditProblem[] = [];
  const claims: Claim[] = [];
  let records = 0;
  let line = 0;
  const check = new ChainCheck(key, startOf(key, chain), (what) => problems.push({ file, line, what }));
  const { lines, rest } = unlessGone(() => readLines(join(folder, file))) ?? { lines: [], rest: "" };
  for (const bytes of lines) {
    line += 1;
    const record = check.line(bytes);
    if (!record) continue;
    records += 1;
    if (record.kind === "open")
      for (const [other, seq] of Object.entries(record.chains))
        claims.push({ file, line, chain: other, seq });
  }
  const tail = { file, line: rest.length > 0 ? line + 1 : line };
  return { seq: check.position.seq, records, claims, problems, tail, leftBytes: rest.length };
}

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
