import { closeSync, fstatSync, ftruncateSync, openSync, renameSync, writeSync } from "node:fs";
import { join } from "node:path";
import { ToolError } from "@octant/core";
import { replaceFile } from "@octant/host";
import { startOf } from "./chain-check.ts";
import { encodeHead, type Head, writeWitness } from "./chain-files.ts";
import { FREE, headName, newChainName, partName, thisOwner } from "./names.ts";
import type { AuditEntry } from "./record.ts";
import { otherChains, type Resumed, resumeChain } from "./resume.ts";
import { dropOldParts } from "./retention.ts";
import { type AuditKey, seal } from "./seal.ts";

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

/** A chain of records that this process alone writes. */
export class Chain {
  readonly #options: ChainOptions;
  readonly #owner = thisOwner();
  readonly #headPath: string;
  readonly #head: number;
  #file: number | undefined;
  /** After the last record. */
  #end: Head;
  /** The number in the head file. */
  #headSeq: number;
  /** False while the last part may end with a torn record. */
  #isWhole = true;
  #isNewPart = true;

  /** Resumes an abandoned chain, or starts a new one. */
  constructor(options: ChainOptions) {
    const { folder, key } = options;
    this.#options = options;
    const others = otherChains(folder, key);
    const { torn, ...end } = resumeChain(folder, key, this.#owner) ?? beginChain(folder, key, this.#owner);
    this.#end = end;
    this.#headSeq = end.seq;
    this.#headPath = join(folder, headName({ chain: end.chain, owner: this.#owner }));
    this.#head = openSync(this.#headPath, "r+");
    try {
      this.append(toFirstEntries(end.chain, torn, others));
      this.settle();
    } catch (cause) {
      this.close();
      throw cause;
    }
  }

  /**
   * All in one write; returns the place of the last, `seq@chain`. Throws the system's error, or IO_ERROR, when they are
   * not on the disk; then only `close` is left to do.
   */
  append(entries: readonly AuditEntry[]): string {
    let { seq, last } = this.#end;
    const lines = entries.map((entry) => {
      seq += 1;
      // The JSON of the entry with its place in the chain.
      const json = `{"seq":${seq},"prev":"${last}",${JSON.stringify(entry).slice(1)}`;
      const sealed = seal(this.#options.key, json);
      last = sealed.hash;
      return `${sealed.text}\n`;
    });
    this.#write(Buffer.from(lines.join("")));
    this.#end = { ...this.#end, seq, last };
    return `${seq}@${this.#end.chain}`;
  }

  #write(bytes: Buffer): void {
    const { folder, partBytes } = this.#options;
    if (this.#end.size > 0 && this.#end.size + bytes.length > partBytes) this.#startPart();
    const { chain, part, size } = this.#end;
    this.#file ??= openSync(join(folder, partName(chain, part)), "a", PRIVATE);
    if (fstatSync(this.#file).nlink === 0) throw removed();
    try {
      for (let at = 0; at < bytes.length; ) at += writeSync(this.#file, bytes, at);
    } catch (cause) {
      this.#isWhole = false;
      ftruncateSync(this.#file, size);
      this.#isWhole = true;
      throw cause;
    }
    this.#end = { ...this.#end, size: size + bytes.length };
  }

  #startPart(): void {
    if (this.#file !== undefined) closeSync(this.#file);
    this.#file = undefined;
    this.#end = { ...this.#end, part: this.#end.part + 1, size: 0 };
    this.#isNewPart = true;
  }

  /** Updates the head file; when a part is full, applies retention. */
  settle(): void {
    if (this.#end.seq === this.#headSeq) return;
    this.#writeHead();
    if (!this.#isNewPart) return;
    this.#isNewPart = false;
    const own = { chain: this.#end.chain, owner: this.#owner };
    dropOldParts({ ...this.#options, own, record: (entry) => void this.append([entry]) });
    this.#writeHead();
    this.#writeWitness();
  }

  #writeHead(): void {
    writeSync(this.#head, encodeHead(this.#options.key, this.#end), 0);
    this.#headSeq = this.#end.seq;
  }

  #writeWitness(): void {
    const { witnesses, key } = this.#options;
    const { chain, seq } = this.#end;
    if (witnesses !== undefined) writeWitness(witnesses, key, { chain, seq });
  }

  /** Releases it for the next writer. */
  close(): void {
    try {
      // After a disk error the head may lag, and records beyond it could be cut off unnoticed.
      if (this.#end.seq !== this.#headSeq) this.#writeHead();
      this.#writeWitness();
    } finally {
      closeSync(this.#head);
      if (this.#file !== undefined) closeSync(this.#file);
      const free = join(this.#options.folder, headName({ chain: this.#end.chain, owner: FREE }));
      // With a torn record at its end it is left as is; the next writer repairs it.
      if (this.#isWhole) renameSync(this.#headPath, free);
    }
  }
}

const PRIVATE = 0o600;

function beginChain(folder: string, key: AuditKey, owner: string): Resumed {
  const chain = newChainName(new Date());
  const begun = { chain, ...startOf(key, chain), part: 1, size: 0 };
  const path = join(folder, headName({ chain, owner }));
  replaceFile(path, encodeHead(key, begun), { mode: PRIVATE, durable: false });
  return { ...begun, torn: [] };
}

function toFirstEntries(
  chain: string,
  torn: Resumed["torn"],
  others: ReadonlyMap<string, number>,
): AuditEntry[] {
  const time = new Date().toISOString();
  const chains = Object.fromEntries([...others].filter(([name]) => name !== chain));
  return [
    ...(torn.length > 0 ? [{ kind: "torn", time, pieces: torn } as const] : []),
    { kind: "open", time, pid: process.pid, chains },
  ];
}

/** Otherwise the records would vanish with the last open descriptor. */
const removed = () =>
  new ToolError(
    "IO_ERROR",
    "the audit log was removed while it was written; a new one is begun at the next try",
    {},
  );
