import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { attempt } from "@octant/core";
import { openLogFile, readLogFile } from "./log-file.ts";
import { LogSessionStore, type SessionLogs } from "./log-session-store.ts";
import type { SessionInfo } from "./session-store.ts";

export interface FileSessionStoreOptions {
  readonly folder: string;
  /** Locks an open session against other processes; returns the release function, or throws LOCKED. */
  readonly lock?: (file: string) => Promise<() => Promise<void>>;
}

const LOG = ".jsonl";
const SUMMARY = ".info.json";
const ID = /^ses_[0-9a-z]{36}$/;

/** Sessions as files of one folder: a log each, and its summary. */
export class FileSessionStore extends LogSessionStore {
  constructor(options: FileSessionStoreOptions) {
    super(createFileLogs(options));
  }
}

function createFileLogs({ folder, lock = async () => async () => {} }: FileSessionStoreOptions): SessionLogs {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const fileOf = (id: string, suffix = LOG) => join(folder, `${id}${suffix}`);
  return {
    ids: async () =>
      readdirSync(folder)
        .filter((name) => name.endsWith(LOG))
        .map((name) => name.slice(0, -LOG.length))
        .filter((id) => ID.test(id))
        .sort()
        .reverse(),
    has: async (id) => ID.test(id) && existsSync(fileOf(id)),
    async *read(id, onDamage) {
      yield* readLogFile(fileOf(id), onDamage);
    },
    async open(id) {
      const release = await lock(fileOf(id));
      try {
        const store = await openLogFile(fileOf(id));
        const close = async () => {
          await store.close();
          await release();
        };
        return { ...store, close };
      } catch (cause) {
        await release();
        throw cause;
      }
    },
    async remove(id) {
      const release = await lock(fileOf(id));
      for (const suffix of [LOG, SUMMARY]) rmSync(fileOf(id, suffix), { force: true });
      await release();
    },
    /** Cached next to the log. */
    async summary(id, make) {
      const { size } = statSync(fileOf(id));
      const cached = readSummary(fileOf(id, SUMMARY));
      if (cached?.format === SUMMARY_FORMAT && cached.size === size) return cached.info;
      const info = await make();
      storeSummary(fileOf(id, SUMMARY), { format: SUMMARY_FORMAT, size, info });
      return info;
    },
  };
}

/** Grows with the fields of a summary. */
const SUMMARY_FORMAT = 1;

interface Summary {
  readonly format: number;
  readonly size: number;
  readonly info: SessionInfo;
}

const readSummary = (file: string): Summary | undefined =>
  attempt(() => JSON.parse(readFileSync(file, "utf8")));

function storeSummary(file: string, summary: Summary): void {
  try {
    writeFileSync(file, JSON.stringify(summary), { mode: 0o600 });
  } catch {
    // It is only a cache, and part of a summary is not JSON.
  }
}
