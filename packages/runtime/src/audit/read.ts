import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import { join } from "node:path";
import { linesOf } from "./lines.ts";
import { listAuditFiles, partName } from "./names.ts";
import type { AuditRecord } from "./record.ts";
import { unlessGone } from "./unless-gone.ts";

export interface ReadAuditOptions {
  /** ISO 8601: none that is older. */
  readonly since?: string;
  /** The newest of them. */
  readonly limit?: number;
}

/** A record and its location. */
export type ChainRecord = AuditRecord & { readonly chain: string };

/** Where each part ends, after its last whole line. */
export type Ends = ReadonlyMap<string, number>;

/** The newest records of all chains, oldest first. Begin records of answered calls are omitted. */
export const readAudit = (folder: string, options: ReadAuditOptions = {}): Promise<ChainRecord[]> =>
  readUntil(folder, findEnds(folder), options);

export async function readUntil(
  folder: string,
  ends: Ends,
  options: ReadAuditOptions,
): Promise<ChainRecord[]> {
  const { limit = Number.POSITIVE_INFINITY } = options;
  const { parts } = listAuditFiles(folder);
  const chains = [];
  for (const [chain, numbers] of parts) chains.push(await readChain(folder, chain, numbers, ends, options));
  const records = chains.flat().sort((a, b) => (a.time < b.time ? -1 : Number(a.time > b.time)));
  return records.slice(Math.max(0, records.length - limit));
}

/** From the last part backwards, until there is enough. */
async function readChain(
  folder: string,
  chain: string,
  parts: readonly number[],
  ends: Ends,
  { since = "", limit = Number.POSITIVE_INFINITY }: ReadAuditOptions,
): Promise<ChainRecord[]> {
  let found: ChainRecord[] = [];
  for (const part of parts.toReversed()) {
    const name = partName(chain, part);
    const records = await readPart(folder, name, chain, ends.get(name) ?? 0);
    const wanted = records.filter(({ time }) => time >= since);
    found = withoutAnswered([...wanted, ...found]);
    if (found.length >= limit || (records.length > 0 && wanted.length === 0)) break;
  }
  return found;
}

async function readPart(folder: string, name: string, chain: string, end: number): Promise<ChainRecord[]> {
  const records: ChainRecord[] = [];
  for await (const { bytes } of linesOf(join(folder, name), 0, end)) {
    const record = parseRecord(bytes, chain);
    if (record) records.push(record);
  }
  return records;
}

function withoutAnswered(records: readonly ChainRecord[]): ChainRecord[] {
  const answered = new Set(records.map((record) => (record.kind === "call" ? record.began : undefined)));
  return records.filter(({ kind, seq, chain }) => kind !== "begin" || !answered.has(`${seq}@${chain}`));
}

/** Undefined for a line that is not a valid record; verifyAudit reports why. */
export function parseRecord(line: Buffer, chain: string): ChainRecord | undefined {
  try {
    const record: unknown = JSON.parse(line.toString("utf8"));
    const isRecord =
      typeof record === "object" &&
      record !== null &&
      "kind" in record &&
      "seq" in record &&
      "time" in record;
    // Tampered lines may have any shape; lines we wrote are records.
    return isRecord ? { ...(record as AuditRecord), chain } : undefined;
  } catch {
    return undefined;
  }
}

export function findEnds(folder: string): Ends {
  const names = [...listAuditFiles(folder).parts].flatMap(([chain, parts]) =>
    parts.map((part) => partName(chain, part)),
  );
  return new Map(names.map((name) => [name, unlessGone(() => endOfLastLine(join(folder, name))) ?? 0]));
}

const LINE_FEED = 0x0a;
const LOOK_BACK_BYTES = 64 * 1024;

function endOfLastLine(path: string): number {
  const file = openSync(path, "r");
  try {
    const chunk = Buffer.alloc(LOOK_BACK_BYTES);
    for (let end = fstatSync(file).size; end > 0; end -= Math.min(end, LOOK_BACK_BYTES)) {
      const start = Math.max(0, end - LOOK_BACK_BYTES);
      const read = readSync(file, chunk, 0, end - start, start);
      const feed = chunk.subarray(0, read).lastIndexOf(LINE_FEED);
      if (feed >= 0) return start + feed + 1;
    }
    return 0;
  } finally {
    closeSync(file);
  }
}
