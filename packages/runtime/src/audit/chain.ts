import { hash } from "node:crypto";
import { closeSync, fstatSync, ftruncateSync, openSync, renameSync, truncateSync, writeSync } from "node:fs";
import { join } from "node:path";
import { ToolError } from "@octant/core";
import { replaceFile } from "@octant/host";
import { startOf } from "./chain-check.ts";
import { encodeHead, type Head, writeWitness } from "./chain-files.ts";
import { FREE, headName, newChainName, recordsName, thisOwner } from "./names.ts";
import type { AuditEntry } from "./record.ts";
import { type ChainEnd, claimChain, loadHeads } from "./resume.ts";
import { dropOldChains } from "./retention.ts";
import { type AuditKey, seal } from "./seal.ts";

export interface ChainOptions {
  readonly folder: string;
  readonly key: AuditKey;
  /** A chain of this size is followed by another. */
  readonly chainBytes: number;
  /** Beyond this size, the oldest chains are removed. */
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
  /** False while the chain may end with a torn record. */
  #isWhole = true;

  /** Resumes an abandoned chain, or starts a new one. */
  constructor(options: ChainOptions) {
    const { folder, key, chainBytes } = options;
    this.#options = options;
    const known = loadHeads(folder, key);
    const short = known.values().filter(({ size }) => size < chainBytes);
    const claimed = short.map((file) => claimChain(folder, key, file, this.#owner)).find((end) => end);
    const { torn, ...end } = claimed ?? beginChain(folder, key, this.#owner);
    const { chain } = end;
    this.#end = end;
    this.#headSeq = end.seq;
    this.#headPath = join(folder, headName({ chain, owner: this.#owner }));
    this.#head = openSync(this.#headPath, "r+");
    try {
      if (torn.length > 0) truncateSync(join(folder, recordsName(chain)), end.size);
      const time = new Date().toISOString();
      const others = known.filter((one) => one.chain !== chain).map((one) => [one.chain, one.seq] as const);
      this.append([
        ...tornEntries(torn, time),
        { kind: "open", time, pid: process.pid, chains: Object.fromEntries(others) },
      ]);
      this.#writeHead();
      const own = { chain, owner: this.#owner };
      dropOldChains({ ...options, own, record: (entry) => void this.append([entry]) });
      this.settle();
      this.#writeWitness();
    } catch (cause) {
      this.close();
      throw cause;
    }
  }

  get isFull(): boolean {
    return this.#end.size >= this.#options.chainBytes;
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
    const { chain, size } = this.#end;
    this.#file ??= openSync(join(this.#options.folder, recordsName(chain)), "a", PRIVATE);
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

  /** Updates the head file. */
  settle(): void {
    if (this.#end.seq !== this.#headSeq) this.#writeHead();
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
      this.settle();
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

function beginChain(folder: string, key: AuditKey, owner: string): ChainEnd {
  const chain = newChainName(new Date());
  const begun = { chain, ...startOf(key, chain), size: 0 };
  const path = join(folder, headName({ chain, owner }));
  replaceFile(path, encodeHead(key, begun), { mode: PRIVATE, durable: false });
  return { ...begun, torn: Buffer.alloc(0) };
}

const tornEntries = (torn: Buffer, time: string): AuditEntry[] =>
  torn.length > 0 ? [{ kind: "torn", time, bytes: torn.length, sha256: hash("sha256", torn, "hex") }] : [];

/** Otherwise the records would vanish with the last open descriptor. */
const removed = () =>
  new ToolError(
    "IO_ERROR",
    "the audit log was removed while it was written; a new one is begun at the next try",
    {},
  );
