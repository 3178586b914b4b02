import { ToolError } from "@octant/core";
import { errnoOf } from "@octant/host";
import { Chain } from "./chain.ts";
import type { AuditEntry } from "./record.ts";
import type { AuditKey } from "./seal.ts";

export interface AuditLogOptions {
  /** A private folder of the workspace. */
  readonly folder: string;
  readonly key: AuditKey;
  /** A private folder beside `folder` that remembers each chain; without it, a removed log is not missed. */
  readonly witnesses?: string;
  /** Called when writing starts to fail. */
  warn(message: string): void;
  readonly chainBytes?: number;
  /** The oldest chains beyond this size are removed; default unlimited. */
  readonly keepBytes?: number;
  readonly now?: () => number;
}

const CHAIN_BYTES = 16 * 1024 * 1024;
const MAX_WAITING = 10_000;
const MAX_BATCH = 256;
/** One write for all the calls of this time costs a third of one for each. */
const GATHER_MS = 10;
/** How long a disk that refused is left alone. */
const RETRY_MS = 1_000;

export type AuditLog = ReturnType<typeof createAuditLog>;

/**
 * An append-only log of calls. Several processes may write to the same folder. Nothing is opened before the first
 * record is written.
 */
export function createAuditLog(options: AuditLogOptions) {
  const { folder, key, witnesses, warn, chainBytes = CHAIN_BYTES, now = () => performance.now() } = options;
  const { keepBytes = Number.POSITIVE_INFINITY } = options;
  let chain: Chain | undefined;
  let waiting: (() => AuditEntry)[] = [];
  let lost = 0;
  let timer: NodeJS.Timeout | undefined;
  let refusal: { readonly error: ToolError; readonly at: number } | undefined;

  const refuse = (cause: unknown): ToolError => {
    closeQuietly(chain);
    chain = undefined;
    const error = toRefusal(cause);
    if (!refusal) warn(error.message);
    refusal = { error, at: now() };
    return error;
  };
  /** Any disk error is a refusal. */
  const onDisk = <T>(work: (open: Chain) => T): T => {
    if (refusal && now() - refusal.at < RETRY_MS) throw refusal.error;
    try {
      if (chain?.isFull) {
        const full = chain;
        chain = undefined;
        full.close();
      }
      chain ??= new Chain({ folder, key, chainBytes, keepBytes, witnesses, warn });
      const done = work(chain);
      refusal = undefined;
      return done;
    } catch (cause) {
      throw refuse(cause);
    }
  };
  const write = (entries: readonly AuditEntry[]) => onDisk((open) => open.append(entries));
  /** Writes pending entries and then `last` in few writes. Throws when some remain; returns the place of `last`. */
  const writeWaiting = (last: readonly AuditEntry[]): string | undefined => {
    if (lost > 0) write([{ kind: "lost", time: new Date().toISOString(), records: lost }]);
    lost = 0;
    let place: string | undefined;
    for (let left = waiting.length + last.length; left > 0; left = waiting.length) {
      const batch = waiting.slice(0, MAX_BATCH);
      const isLast = batch.length === waiting.length;
      place = write([...batch.map((make) => make()), ...(isLast ? last : [])]);
      waiting = waiting.slice(batch.length);
    }
    return place;
  };
  const flush = () => {
    clearTimeout(timer);
    timer = undefined;
    try {
      writeWaiting([]);
      if (chain) onDisk((open) => open.settle());
    } catch (cause) {
      if (!(cause instanceof ToolError)) throw cause;
      const tooMany = Math.max(0, waiting.length - MAX_WAITING);
      lost += tooMany;
      waiting = waiting.slice(tooMany);
    }
  };
  const flushSoon = () => {
    timer ??= setTimeout(flush, GATHER_MS);
  };

  return {
    /** On the disk when it returns; gives its place, `seq@chain`. NO_SPACE or IO_ERROR when the disk does not take it. */
    append(entry: AuditEntry): string {
      // The head file may lag; a resuming writer scans past it.
      flushSoon();
      return writeWaiting([entry]) as string;
    },
    /** Written in a batch within milliseconds. On a disk error the entries are retained and retried. */
    appendSoon(make: () => AuditEntry): void {
      waiting.push(make);
      flushSoon();
    },
    /** Writes pending entries now. */
    flush,
    /** The same in the next turn, so that an answer leaves first. */
    flushNext: () => void setImmediate(flush),
    /** Flushes, and leaves the chain to the next process. */
    close(): void {
      refusal = undefined;
      flush();
      closeQuietly(chain);
      chain = undefined;
    },
  };
}

/** Its records are on disk; a head left with its owner's name is found once that owner is dead. */
function closeQuietly(chain: Chain | undefined): void {
  try {
    chain?.close();
  } catch (cause) {
    if (errnoOf(cause) === undefined) throw cause;
  }
}

function toRefusal(cause: unknown): ToolError {
  if (cause instanceof ToolError) return cause;
  const errno = errnoOf(cause);
  // An error without an errno is our bug.
  if (errno === undefined) throw cause;
  const then = "calls that change something are refused until it can be";
  if (errno === "ENOSPC" || errno === "EDQUOT")
    return new ToolError(
      "NO_SPACE",
      `the disk is full, so the audit log cannot be written; ${then}`,
      {},
      { cause },
    );
  const message = `the audit log in Octant's state folder cannot be written (${errno}); ${then}`;
  return new ToolError("IO_ERROR", message, { errno }, { cause });
}
