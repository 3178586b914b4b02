import { randomBytes } from "node:crypto";
import { readdirSync, renameSync, statSync, unlinkSync } from "node:fs";
import { join } from "node:path";
import { errnoOf } from "../errno.ts";
import { createPacer, type Pacer } from "../files/pacer.ts";

/** Bounds the size of a blob folder: evicts the least recently put blobs. */
export interface Collector {
  /** Call for every put. Starts a collection now and then, in the background and in small steps. */
  added(bytes: number): void;
}

interface StoredBlob {
  readonly path: string;
  readonly size: number;
  readonly mtimeMs: number;
}

/** A collection leaves this share of the cap, so that the next put does not need another. */
const KEPT_SHARE = 0.9;
/** Collect after adding this share of the cap. */
const ADDED_SHARE = 1 / 16;
/** Short-lived processes never add that much, so one first put in this many collects anyway. */
const PROCESSES_PER_COLLECTION = 64;
/** Younger blobs are never collected: an edit in progress may depend on them. */
const GRACE_MS = 10 * 60 * 1000;
const SHARD = /^[0-9a-f]{2}$/;

export function createCollector(folder: string, temp: string, maxBytes: number): Collector {
  let addedBytes = 0;
  let isCollecting = false;
  let isFirst = true;
  const hasAddedMuch = () => addedBytes > maxBytes * ADDED_SHARE;

  const collectAll = async () => {
    isCollecting = true;
    try {
      do {
        addedBytes = 0;
        await collect(folder, temp, maxBytes);
      } while (hasAddedMuch());
    } catch {
      // The next one tries again; a put must not fail because old blobs could not be removed.
    } finally {
      isCollecting = false;
    }
  };

  return {
    added(bytes) {
      addedBytes += bytes;
      const byChance = isFirst && Math.random() * PROCESSES_PER_COLLECTION < 1;
      isFirst = false;
      if (isCollecting || !(hasAddedMuch() || byChance)) return;
      void collectAll();
    },
  };
}

async function collect(folder: string, temp: string, maxBytes: number): Promise<void> {
  const pacer = createPacer();
  // The put that started this returns first.
  await pacer.pause();
  const blobs: StoredBlob[] = [];
  for (const shard of readdirSync(folder)) {
    if (SHARD.test(shard)) await listShard(join(folder, shard), blobs, pacer);
  }
  let total = blobs.reduce((sum, { size }) => sum + size, 0);
  if (total <= maxBytes) return;
  const newestToGo = Date.now() - GRACE_MS;
  const old = blobs.filter(({ mtimeMs }) => mtimeMs < newestToGo).sort((a, b) => a.mtimeMs - b.mtimeMs);
  for (const blob of old) {
    if (total <= maxBytes * KEPT_SHARE) return;
    if (remove(blob, temp)) total -= blob.size;
    if (pacer.due()) await pacer.pause();
  }
}

async function listShard(shard: string, into: StoredBlob[], pacer: Pacer): Promise<void> {
  for (const name of readdirSync(shard)) {
    const path = join(shard, name);
    const stat = statSync(path, { throwIfNoEntry: false });
    if (stat) into.push({ path, size: stat.size, mtimeMs: stat.mtimeMs });
    if (pacer.due()) await pacer.pause();
  }
}

/** Moves the blob away before checking it, so that one that was put again meanwhile can be restored. */
function remove({ path, mtimeMs }: StoredBlob, temp: string): boolean {
  const doomed = join(temp, randomBytes(8).toString("hex"));
  try {
    renameSync(path, doomed);
    if (statSync(doomed).mtimeMs === mtimeMs) {
      unlinkSync(doomed);
      return true;
    }
    renameSync(doomed, path);
    return false;
  } catch (cause) {
    // Another process collects too.
    if (errnoOf(cause) === "ENOENT") return true;
    throw cause;
  }
}
