import { closeSync, fstatSync, ftruncateSync, openSync, renameSync, writeSync } from "node:fs";
import { join } from "node:path";
import { ToolError } from "@octant/core";
import { replaceFile } from "@octant/host";
import { startOf } from "./chain-check.ts";
import { encodeHead } from "./head.ts";
import { FREE, headName, newChainName, partName, thisOwner } from "./names.ts";
import type { AuditEntry } from "./record.ts";
import { otherChains, type Resumed, resumeChain } from "./resume.ts";
import { dropOldParts } from "./retention.ts";
import { type AuditKey, seal } from "./seal.ts";
import { writeWitness } from "./witness.ts";

/** A chain of records that this process alone writes. */
export interface Chain {
  readonly name: string;
  /** All in one write. Throws the system's error, or IO_ERROR, when they are not on the disk; then only `close` is left to do. */
  append(entries: readonly AuditEntry[]): { readonly seq: number };
  /** Updates the head file; when a part is full, applies retention. */
  settle(): void;
  /** Releases it for the next writer. */
  close(): void;
}

export interface ChainOptions {
  readonly folder: string;
  readonly key: AuditKey;
  /** A part that would become longer is followed by another. */
  readonly partBytes: number;
  /** Beyond this size, the oldest parts of all chains are removed. */
  readonly keepBytes: number;
  /** The folder of the chain's witness, outside `folder`. */
  readonly witnesses?: string | undefined;
  warn(message: string): void;
}

/** Resumes an abandoned chain, or starts a new one. */
export function openChain({ folder, key, partBytes, keepBytes, witnesses, warn }: ChainOptions): Chain {
  const owner = thisOwner();
  const others = otherChains(folder, key);
  const resumed = resumeChain(folder, key, owner) ?? beginChain(folder, key, owner);
  const { chain } = resumed;
  const headPath = join(folder, headName({ chain, owner }));
  let { seq, last, part, size } = resumed;
  let fits = true;
  let told = seq;
  let isNewPart = true;
  const head = openSync(headPath, "r+");
  let file: number | undefined;

  const nextPart = () => {
    if (file !== undefined) closeSync(file);
    file = undefined;
    part += 1;
    size = 0;
    isNewPart = true;
  };
  const write = (bytes: Buffer) => {
    if (size > 0 && size + bytes.length > partBytes) nextPart();
    file ??= openSync(join(folder, partName(chain, part)), "a", PRIVATE);
    if (fstatSync(file).nlink === 0) throw removed();
    try {
      writeAll(file, bytes);
    } catch (cause) {
      fits = false;
      ftruncateSync(file, size);
      fits = true;
      throw cause;
    }
    size += bytes.length;
  };
  const append: Chain["append"] = (entries) => {
    let next = { seq, last };
    const lines = entries.map((entry) => {
      const sealed = seal(key, placed(entry, next.seq + 1, next.last));
      next = { seq: next.seq + 1, last: sealed.hash };
      return `${sealed.text}\n`;
    });
    write(Buffer.from(lines.join("")));
    ({ seq, last } = next);
    return { seq };
  };
  const reportHead = () => {
    writeSync(head, encodeHead(key, { chain, seq, last, part, size }), 0);
    told = seq;
  };
  const reportWitness = () => {
    if (witnesses !== undefined) writeWitness(witnesses, key, { chain, seq });
  };
  const settle = () => {
    if (seq === told) return;
    reportHead();
    if (!isNewPart) return;
    isNewPart = false;
    const record = (entry: AuditEntry) => void append([entry]);
    dropOldParts({ folder, key, keepBytes, own: { chain, owner }, record, warn });
    reportHead();
    reportWitness();
  };
  const close = () => {
    try {
      // After a disk error the head may lag, and records beyond it could be cut off unnoticed.
      if (seq !== told) reportHead();
      reportWitness();
    } finally {
      closeSync(head);
      if (file !== undefined) closeSync(file);
      // With a torn record at its end it is left as is; the next writer repairs it.
      if (fits) renameSync(headPath, join(folder, headName({ chain, owner: FREE })));
    }
  };

  try {
    append(toFirstEntries(resumed, others));
    settle();
  } catch (cause) {
    close();
    throw cause;
  }
  return { name: chain, append, settle, close };
}

const PRIVATE = 0o600;

function beginChain(folder: string, key: AuditKey, owner: string): Resumed {
  const chain = newChainName(new Date());
  const begun = { chain, ...startOf(key, chain), part: 1, size: 0 };
  const path = join(folder, headName({ chain, owner }));
  replaceFile(path, encodeHead(key, begun), { mode: PRIVATE, durable: false });
  return { ...begun, torn: [] };
}

function toFirstEntries({ chain, torn }: Resumed, others: ReadonlyMap<string, number>): AuditEntry[] {
  const time = new Date().toISOString();
  const chains = Object.fromEntries([...others].filter(([name]) => name !== chain));
  return [
    ...(torn.length > 0 ? [{ kind: "torn", time, pieces: torn } as const] : []),
    { kind: "open", time, pid: process.pid, chains },
  ];
}

/** The JSON of the entry with its place in the chain. */
const placed = (entry: AuditEntry, seq: number, prev: string): string =>
  `{"seq":${seq},"prev":"${prev}",${JSON.stringify(entry).slice(1)}`;

/** Otherwise the records would vanish with the last open descriptor. */
const removed = () =>
  new ToolError(
    "IO_ERROR",
    "the audit log was removed while it was written; a new one is begun at the next try",
    {},
  );

function writeAll(file: number, bytes: Buffer): void {
  for (let at = 0; at < bytes.length; ) at += writeSync(file, bytes, at);
}
