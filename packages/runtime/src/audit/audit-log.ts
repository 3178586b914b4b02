import { ToolError } from "@octant/core";
import { errnoOf, toDatabaseError } from "@octant/host";
import { type Chain, openChain } from "./chain.ts";
import type { AuditEntry } from "./record.ts";
import type { AuditKey } from "./seal.ts";

export interface AuditLogOptions {
  /** A private folder of the workspace. */
  readonly folder: string;
  readonly key: AuditKey;
  /** A private folder beside `folder` that remembers each chain; without it, the removal of a log is not detected. */
  readonly witnesses?: string;
  /** Called when writing starts to fail. */
  warn(message: string): void;
  /** The oldest records beyond this size are removed; default unlimited. */
  readonly keepBytes?: number;
  readonly now?: () => number;
}

const MAX_WAITING = 10_000;
/** One transaction for all the calls of this time costs a third of one for each. */
const GATHER_MS = 10;
/** The pause before the next attempt after a disk error. */
const RETRY_MS = 1_000;

/** An append-only log of calls. */
export interface AuditLog {
  /** Stored when it resolves; gives the place of the entry. A ToolError when it cannot be stored. */
  append(entry: AuditEntry): string | Promise<string>;
  /** Stored soon, and before entries that are appended later; when that fails, it is tried again. */
  appendSoon(make: () => AuditEntry): void;
  /** Stores pending entries first. */
  close(): void | Promise<void>;
}

export type FileAuditLog = ReturnType<typeof createAuditLog>;

/**
 * The log in a SQLite file with tamper evidence. Several processes may write to the same folder. Nothing is opened
 * before the first record is written.
 */
export function createAuditLog(options: AuditLogOptions) {
  const { folder, key, witnesses, warn, now = () => performance.now() } = options;
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
      chain ??= openChain({ folder, key, keepBytes, witnesses, warn });
      const done = work(chain);
      refusal = undefined;
      return done;
    } catch (cause) {
      throw refuse(cause);
    }
  };
  const write = (entries: readonly AuditEntry[]) => onDisk((open) => open.append(entries));
  /** Writes pending entries and then `last`, in one transaction; returns the place of `last`. */
  const writeWaiting = (last: readonly AuditEntry[]): string => {
    const gaveUp: AuditEntry[] =
      lost > 0 ? [{ kind: "lost", time: new Date().toISOString(), records: lost }] : [];
    const place = write([...gaveUp, ...waiting.map((make) => make()), ...last]);
    lost = 0;
    waiting = [];
    return place;
  };
  const flush = () => {
    clearTimeout(timer);
    timer = undefined;
    try {
      if (waiting.length + lost > 0) writeWaiting([]);
      if (chain) onDisk((open) => open.trim());
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

  const log = {
    /** On the disk when it returns; gives its place, `seq@chain`. NO_SPACE or IO_ERROR when the disk does not take it. */
    append(entry: AuditEntry): string {
      flushSoon();
      return writeWaiting([entry]);
    },
    /** Written in a batch within milliseconds. On a disk error the entries are retained and retried. */
    appendSoon(make: () => AuditEntry): void {
      waiting.push(make);
      flushSoon();
    },
    /** Writes pending entries now. */
    flush,
    /** Flushes, and leaves the chain to the next process. */
    close(): void {
      refusal = undefined;
      flush();
      closeQuietly(chain);
      chain = undefined;
    },
  };
  return log satisfies AuditLog;
}

/** Its records are on disk; only the witness may lag. */
function closeQuietly(chain: Chain | undefined): void {
  try {
    chain?.close();
  } catch (cause) {
    toRefusal(cause);
  }
}

/** Throws an error that neither the disk nor SQLite has caused: that is our bug. */
function toRefusal(cause: unknown): ToolError {
  const errno = errnoOf(cause);
  const error = errno === undefined ? toDatabaseError("the audit log", cause) : undefined;
  const then = "calls that change something are refused until it can be";
  const isFull = errno === "ENOSPC" || errno === "EDQUOT";
  if (isFull || (error instanceof ToolError && error.code === "NO_SPACE"))
    return new ToolError(
      "NO_SPACE",
      `the disk is full, so the audit log cannot be written; ${then}`,
      {},
      { cause },
    );
  if (error instanceof ToolError) return error;
  if (errno === undefined) throw cause;
  const message = `the audit log in Octant's state folder cannot be written (${errno}); ${then}`;
  return new ToolError("IO_ERROR", message, { errno }, { cause });
}
