import { appendFileSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { attempt } from "@octant/core";
import { isAlive } from "../jobs/process-identity.ts";
import type { Stranded } from "../sandbox/stranded.ts";
import type { EndRecord, StartRecord, StreamName } from "./protocol.ts";

/** A process on disk: how it was started and, once it has ended, how. A file of lines, which are only ever added. */
export interface ProcessRecord extends Partial<Released> {
  readonly start: StartRecord;
  readonly end: EndRecord | undefined;
}

/** Not on disk: known to the server that ran it. */
export interface Released {
  /** Protected entries that commands created while it ran, and that were moved out of the project. */
  readonly quarantined: readonly string[];
  /** Entries that it wrote to the sandbox's own home and temp folders. */
  readonly stranded: readonly Stranded[];
}

/** A record that this version cannot read. */
export interface UnreadableRecord {
  readonly unreadable: "newer version" | "other shape";
  /** The owner, where the record still shows it. */
  readonly owner: string | undefined;
}

const RECORD_SUFFIX = ".json";

const recordPath = (folder: string, proc_id: string): string => join(folder, `${proc_id}${RECORD_SUFFIX}`);
export const spoolPath = (folder: string, proc_id: string, stream: StreamName): string =>
  join(folder, `${proc_id}.${stream}`);
export const inputPath = (folder: string, proc_id: string): string => join(folder, `${proc_id}.stdin`);

/** In the first line; absent before there were versions. */
const VERSION = 1;

/** Throws when the disk does not take it. */
export const addRecord = (folder: string, start: StartRecord): void =>
  writeFileSync(recordPath(folder, start.proc_id), toLine({ version: VERSION, ...start }), {
    mode: 0o600,
    flag: "wx",
  });

/** May be called again while output still comes; the last one counts. */
export const addEnd = (folder: string, proc_id: string, end: EndRecord): void =>
  appendFileSync(recordPath(folder, proc_id), toLine(end));

/** A line begins with a line feed too, so that it stays apart from one that a full disk cut off. */
const toLine = (part: (StartRecord & { readonly version: number }) | EndRecord): string =>
  `\n${JSON.stringify(part)}\n`;

/** undefined when there is none. A process whose server died was killed with it. */
export function readRecord(folder: string, proc_id: string): ProcessRecord | UnreadableRecord | undefined {
  const text = attempt(() => readFileSync(recordPath(folder, proc_id), "utf8"));
  // addRecord and addEnd wrote them, and the start comes first. A crash or a full disk may have cut off a line.
  const lines = text?.split("\n").flatMap((line) => attempt(() => JSON.parse(line)) ?? []);
  const [first, ...ends] = (lines ?? []) as [(StartRecord & { version?: number })?, ...EndRecord[]];
  if (first === undefined) return undefined;
  const { version = VERSION, ...start } = Object(first) as typeof first;
  const owner = typeof start.owner === "string" ? start.owner : undefined;
  if (version > VERSION) return { unreadable: "newer version", owner };
  const isComplete = start.proc_id === proc_id && typeof start.server === "string" && start.caps;
  if (owner === undefined || !isComplete) return { unreadable: "other shape", owner };
  return { start, end: ends.at(-1) ?? (isAlive(start.server) ? undefined : endByForce(start.started_at)) };
}

/** The end of a process that went down with its supervisor or server. */
export const endByForce = (ended_at: number): EndRecord => ({
  status: "killed",
  exit_code: null,
  signal: "SIGKILL",
  ended_at,
  output_open: false,
  output_failure: null,
  limit: null,
  printed: null,
});

/** The newest first. */
export function listRecords(folder: string): string[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith(RECORD_SUFFIX))
    .map((name) => name.slice(0, -RECORD_SUFFIX.length))
    .sort()
    .reverse();
}

const HOUR_MS = 60 * 60 * 1000;
const RETENTION = { maxRecords: 1_000, maxBytes: 1024 * 1024 * 1024, maxAgeMs: 48 * HOUR_MS };

/** Removes the oldest exited processes with their output until the rest fits. */
export function sweepRecords(folder: string, now: number, retention = RETENTION): void {
  const files = Map.groupBy(
    readdirSync(folder).filter((name) => name.startsWith("proc_")),
    (name) => name.slice(0, name.indexOf(".")),
  );
  let records = 0;
  let bytes = 0;
  for (const [proc_id, names] of [...files].sort(([a], [b]) => (a < b ? 1 : -1))) {
    const paths = names.map((name) => join(folder, name));
    const stats = paths.flatMap((path) => statSync(path, { throwIfNoEntry: false }) ?? []);
    records += 1;
    bytes += stats.reduce((sum, { blocks }) => sum + blocks * BLOCK_BYTES, 0);
    const age = now - Math.max(...stats.map(({ mtimeMs }) => mtimeMs));
    const fits = records <= retention.maxRecords && bytes <= retention.maxBytes && age <= retention.maxAgeMs;
    if (!fits && isOver(folder, proc_id, age)) for (const path of paths) rmSync(path, { force: true });
  }
}

const BLOCK_BYTES = 512;

function isOver(folder: string, proc_id: string, age: number): boolean {
  const record = readRecord(folder, proc_id);
  // Without a record it is about to start, or never did.
  if (!record) return age > HOUR_MS;
  if ("unreadable" in record) return age > RETENTION.maxAgeMs;
  return record.end !== undefined && !(record.end.output_open && isAlive(record.start.server));
}
