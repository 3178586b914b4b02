import { openSync } from "node:fs";
import { attempt } from "../attempt.ts";
import { orderOutput } from "./output-ref.ts";
import type { EndRecord, Hello, StartRecord, StreamName } from "./protocol.ts";
import { addEnd, addRecord, spoolPath } from "./records.ts";
import { createSpool, type SpoolWriter } from "./spool.ts";

const MODE = 0o600;

/** A process on disk: its output and its record. */
export class StoredOutput {
  readonly #proc_id: string;
  readonly #hello: Hello;
  readonly #spools = new Map<StreamName, SpoolWriter>();

  constructor(proc_id: string, hello: Hello) {
    this.#proc_id = proc_id;
    this.#hello = hello;
  }

  write(stream: StreamName, bytes: Buffer): void {
    const open = () => openSync(this.#path(stream), "wx", MODE);
    const spool = this.#spools.get(stream) ?? createSpool(this.#hello.caps, open);
    this.#spools.set(stream, spool);
    spool.write(bytes);
  }

  /** Bytes so far. */
  printed(): Readonly<Record<StreamName, number>> {
    const total = (stream: StreamName) => this.#spools.get(stream)?.total ?? 0;
    return { stdout: total("stdout"), stderr: total("stderr") };
  }

  /** Why output is missing, such as ENOSPC. */
  failure(): string | null {
    return this.#spools.values().find(({ failure }) => failure !== null)?.failure ?? null;
  }

  /** Ends the output. Resolves when all stored output can be read in order. */
  async close(): Promise<void> {
    const { caps } = this.#hello;
    for (const [stream, spool] of this.#spools) {
      spool.close();
      if (spool.total > caps.head + caps.tail) await orderOutput(this.#path(stream), caps);
    }
  }

  /** Throws when the disk is full: a process without a record could not be found again. */
  recordStart(start: StartRecord): void {
    addRecord(this.#hello.folder, start);
  }

  /** May be called again while output still comes. On a full disk a later server takes the process for killed. */
  recordEnd(end: EndRecord): void {
    attempt(() => addEnd(this.#hello.folder, this.#proc_id, end));
  }

  #path(stream: StreamName): string {
    return spoolPath(this.#hello.folder, this.#proc_id, stream);
  }
}
