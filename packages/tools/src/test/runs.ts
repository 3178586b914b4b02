import { hash } from "node:crypto";
import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { newHandle, ToolError } from "@octant/core";
import { isAlive, replaceFile, type StateFolder, thisProcess } from "@octant/host";
import { z } from "zod";
import { readBytes } from "../read-bytes.ts";
import { openRegularFile, toIoError } from "./regular-file.ts";
import { Failure, RunResult } from "./result.ts";
import type { KnownTest } from "./runner.ts";

/** Number of stored runs per workspace. */
const MAX_RUNS = 100;
/** Concurrent runs; each may start as many processes as it likes. */
const MAX_RUNNING = 8;
const FOLDER = "test-runs";

const Summary = RunResult.omit({ failures: true, more_failures: true, more_suites: true });
export type Summary = z.output<typeof Summary>;

const VERSION = 1;
const Newer = z.object({ version: z.int().min(VERSION + 1), owner: z.string().optional() });

const StoredRun = z.object({
  /** Absent before there were versions. */
  version: z.literal(VERSION).default(VERSION),
  owner: z.string(),
  process: z.string(),
  summary: Summary,
  failures: z.array(Failure),
});

const Known = z.array(
  z.object({
    name: z.string(),
    suite: z.array(z.string()),
    file: z.string().optional(),
    id: z.string().optional(),
  }),
);
/** A bare list before there were versions. */
const StoredFailed = z.union([
  z.object({ version: z.literal(VERSION), failed: Known }).transform(({ failed }) => failed),
  Known,
]);

export type Runs = ReturnType<typeof createRuns>;
export type LiveRun = ReturnType<Runs["begin"]>;

/** The runs of a workspace: stored on disk, so that they survive a restart; only the newest ones. */
export function createRuns(state: StateFolder) {
  const live = new Map<string, { readonly owner: string; summary: Summary }>();
  const process = thisProcess();
  const fileOf = (name: string) => join(state.folder(FOLDER), `${name}.json`);
  const failedFile = (owner: string, suite: string) =>
    fileOf(`failed-${hash("sha256", JSON.stringify([owner, suite]))}`);

  return {
    /** Starts a new run; LIMIT_EXCEEDED when there are too many. */
    begin(owner: string) {
      if (live.size >= MAX_RUNNING) throw tooMany(live.size);
      const run_id = newHandle("run", Date.now());
      const summary = emptySummary(run_id);
      live.set(run_id, { owner, summary });
      write(fileOf(run_id), { version: VERSION, owner, process, summary, failures: [] });
      forgetOldest(state.folder(FOLDER));
      return {
        run_id,
        /** The summary so far; held in memory only. */
        update: (next: Summary) => void live.set(run_id, { owner, summary: next }),
        end(last: Summary, failures: readonly Failure[]): void {
          write(fileOf(run_id), { version: VERSION, owner, process, summary: last, failures });
          live.delete(run_id);
        },
      };
    },
    /** NOT_FOUND for unknown runs and those of other callers; the owner null may see all. */
    get(
      owner: string | null,
      run_id: string,
    ): { readonly summary: Summary; readonly failures: readonly Failure[] } {
      const running = live.get(run_id);
      const isOf = (one: { readonly owner?: string | undefined } | undefined) =>
        one !== undefined && (owner === null || one.owner === owner);
      if (running && isOf(running)) return { summary: running.summary, failures: [] };
      const kept = read(fileOf(run_id), StoredRun);
      if (isOf(read(fileOf(run_id), Newer))) throw newer(run_id, { id: run_id });
      if (!kept || !isOf(kept))
        throw new ToolError("NOT_FOUND", `there is no run ${run_id}; the last ${MAX_RUNS} are stored`, {
          id: run_id,
        });
      return { summary: interrupted(kept) ?? kept.summary, failures: kept.failures };
    },
    /** Failures of the suite's last run; undefined if it never ran. NOT_FOUND when a newer version stored them. */
    lastFailed(owner: string, suite: string): z.output<typeof Known> | undefined {
      const file = failedFile(owner, suite);
      if (read(file, Newer)) throw newer(`the last failures of ${suite}`, {});
      return read(file, StoredFailed);
    },
    storeFailed: (owner: string, suite: string, failed: readonly KnownTest[]) =>
      write(failedFile(owner, suite), { version: VERSION, failed }),
  };
}

const newer = (what: string, details: { readonly id?: string }) =>
  new ToolError("NOT_FOUND", `a newer version of Octant stored ${what}; update Octant`, details);

const tooMany = (actual: number) =>
  new ToolError(
    "LIMIT_EXCEEDED",
    `${actual} test runs are running; wait for one, or stop one with job.cancel`,
    {
      limit: MAX_RUNNING,
      actual,
      what: "test runs",
    },
  );

export const emptySummary = (run_id: string): Summary => ({
  run_id,
  status: "running",
  pass: 0,
  fail: 0,
  skip: 0,
  duration: 0,
  suites: [],
});

/** A run that was in progress when its server died. */
function interrupted({ summary, process }: z.output<typeof StoredRun>): Summary | undefined {
  if (summary.status !== "running" || isAlive(process)) return undefined;
  return { ...summary, status: "crashed", reason: "the server stopped while it ran; run it again" };
}

function write(path: string, value: unknown): void {
  try {
    replaceFile(path, JSON.stringify(value), { mode: 0o600, durable: false });
  } catch (cause) {
    throw toIoError("the state folder", cause);
  }
}

/** Far above the size of any stored run. */
const MAX_STORED_BYTES = 256 * 1024 * 1024;

/** undefined for a missing, torn or replaced file. */
function read<S extends z.ZodType>(path: string, schema: S): z.output<S> | undefined {
  try {
    using file = openRegularFile(path);
    if (!file || file.size > MAX_STORED_BYTES) return undefined;
    return schema.safeParse(JSON.parse(readBytes(file.fd, file.size).toString())).data;
  } catch {
    return undefined;
  }
}

/** Run ids sort by time. */
function forgetOldest(folder: string): void {
  const runs = readdirSync(folder).filter((name) => name.startsWith("run_"));
  for (const name of runs.sort().slice(0, -MAX_RUNS)) rmSync(join(folder, name), { force: true });
}
