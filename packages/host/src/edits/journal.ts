import { createHash } from "node:crypto";
import { closeSync, constants, openSync, statSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import type { Hash } from "@octant/core";
import { z } from "zod";
import { type Disk, realDisk, syncFolder, writeAll } from "./disk.ts";

/** What is about to happen to one file. Names are those of entries beside the target. */
const Step = z.strictObject({
  target: z.string(),
  how: z.enum(["create", "replace", "overwrite", "remove"]),
  before: z.string().nullable(),
  /** The permission bits that belong to `before`. */
  mode: z.int().nullable(),
  after: z.string().nullable(),
  /** Gets the new content before it takes the target's place. */
  temp: z.string().nullable(),
  /** Keeps the old content until the whole set is decided. */
  backup: z.string().nullable(),
});
export type Step = Omit<z.output<typeof Step>, "before" | "after"> & {
  readonly before: Hash | null;
  readonly after: Hash | null;
};

const Intention = z.strictObject({
  /** Whether it takes more than one atomic step, so that only the commit decides. */
  isSet: z.boolean(),
  steps: z.array(Step),
  /** Folders that are made on the way, outermost first. */
  folders: z.array(z.string()),
});

/** Everything that must be known to take a half-done change back. */
export type Intention = z.output<typeof Intention>;

export interface Pending {
  readonly intention: Intention;
  /** Whether every step was done and synced, so that only temporary files are left to be removed. */
  readonly committed: boolean;
}

/** One change at a time is under way in a workspace, so the journal holds one record or none. Call it under the lock. */
export interface Journal {
  begin(intention: Intention, options: { durable: boolean }): void;
  /** Decides the change that began; durable when it returns. */
  commit(): void;
  clear(): void;
  /** What a process that died left behind. A record that is torn or damaged is set aside and never acted upon. */
  pending(): Pending | undefined;
  close(): void;
}

const COMMITTED = Buffer.from("committed\n");
const DIGEST_CHARS = 64;

export function createJournal(file: string, warn: (message: string) => void, disk: Disk = realDisk): Journal {
  let opened: number | undefined;
  let length = 0;
  const descriptor = (): number => {
    if (opened !== undefined) return opened;
    opened = openSync(file, constants.O_RDWR | constants.O_CREAT | constants.O_NOFOLLOW, 0o600);
    syncFolder(realDisk, dirname(file));
    return opened;
  };

  const setAside = (bytes: Buffer) => {
    const kept = `${file}.damaged-${Date.now()}`;
    writeFileSync(kept, bytes, { mode: 0o600 });
    disk.ftruncateSync(descriptor(), 0);
    warn(`the edit journal was damaged and not acted upon; it is kept as ${kept}`);
  };

  return {
    begin(intention, { durable }) {
      const record = encodeRecord(intention);
      writeAll(disk, descriptor(), record);
      length = record.length;
      if (durable) disk.fdatasyncSync(descriptor());
    },
    commit() {
      try {
        disk.writeSync(descriptor(), COMMITTED, 0, COMMITTED.length, length);
        disk.fdatasyncSync(descriptor());
      } catch (cause) {
        disk.ftruncateSync(descriptor(), length);
        throw cause;
      }
    },
    clear: () => disk.ftruncateSync(descriptor(), 0),
    pending() {
      const stat = opened === undefined ? statSync(file, { throwIfNoEntry: false }) : disk.fstatSync(opened);
      if (!stat?.size) return undefined;
      const bytes = Buffer.alloc(stat.size);
      disk.readSync(descriptor(), bytes, 0, stat.size, 0);
      const record = parseRecord(bytes);
      if (!record) setAside(bytes);
      return record;
    },
    close() {
      if (opened !== undefined) closeSync(opened);
      opened = undefined;
    },
  };
}

/** A digest, a space, one line of JSON. */
function encodeRecord(intention: Intention): Buffer {
  const body = JSON.stringify(intention);
  return Buffer.from(`${digestOf(body)} ${body}\n`);
}

function parseRecord(bytes: Buffer): Pending | undefined {
  const end = bytes.indexOf("\n");
  const line = bytes.toString("utf8", 0, Math.max(end, 0));
  const body = line.slice(DIGEST_CHARS + 1);
  if (body === "" || line.slice(0, DIGEST_CHARS + 1) !== `${digestOf(body)} `) return undefined;
  const parsed = Intention.safeParse(JSON.parse(body));
  // Whatever follows was written after all steps were done and synced: even torn it tells that much.
  return parsed.success ? { intention: parsed.data, committed: bytes.length > end + 1 } : undefined;
}

const digestOf = (body: string): string => createHash("sha256").update(body).digest("hex");
