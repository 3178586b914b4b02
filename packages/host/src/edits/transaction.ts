import { rm } from "node:fs/promises";
import { attempt, ToolError } from "@octant/core";
import { toRef } from "../blobs/blobs.ts";
import { type Confinement, type PinnedFolder, splitPath } from "../confinement.ts";
import { errnoOf } from "../errno.ts";
import { createPacer } from "../files/pacer.ts";
import { type Path, pathToUri } from "../path.ts";
import { syncFolder } from "../sync-folder.ts";
import { entryError, hasCode, toToolError } from "../system-error.ts";
import type { Disk } from "./disk.ts";
import { type Change, perform, preserveOld, putBack, toStep, type Work, writeTemp } from "./file-step.ts";
import type { Intention, Journal, Step } from "./journal.ts";
import { mustStayInPlace } from "./ownership.ts";
import { type Failure, type RollbackParts, rollBack, sweep } from "./rollback.ts";
import { newTempName } from "./temp-name.ts";

export interface Beside {
  readonly folder: PinnedFolder;
  /** Both as a system call takes them. */
  readonly target: string | Buffer;
  readonly temp: string | Buffer;
}

export type Transactions = ReturnType<typeof createTransactions>;

/** One step on one name is atomic by itself. Everything else needs the old state until it is committed. */
export const isSetOf = (changes: readonly Change[]): boolean =>
  changes.length > 1 || changes.some(mustStayInPlace);

/** The old states of a set must be durable blobs before it runs. */
export function createTransactions(parts: RollbackParts, journal: Journal) {
  const { confinement, disk } = parts;
  const run = async (changes: readonly Change[], folders: readonly Path[], signal?: AbortSignal) => {
    const isSet = isSetOf(changes);
    const intention: Intention = {
      isSet,
      steps: changes.map((change) => toStep(change, isSet)),
      folders: [...folders],
    };
    const begun = new Set<number>();
    const onOverwrite = (work: Work) => {
      const index = intention.steps.indexOf(work.step);
      journal.overwriting(index);
      begun.add(index);
    };
    for (const { path } of changes) confinement.checkDenied(path);
    try {
      journal.begin(intention, { durable: isSet });
      using parents = openParents(confinement, changes, folders);
      const works = changes.map((change, i) => parents.workOn(change, intention.steps[i]!));
      await eachInTurn(works, (work) => writeTemp(disk, work), signal);
      if (isSet) {
        await eachInTurn(works, (work) => preserveOld(disk, work), signal);
        parents.sync(disk);
      }
      signal?.throwIfAborted();
      await eachInTurn(works, (work) => perform(disk, work, isSet, () => onOverwrite(work)));
      try {
        parents.sync(disk, folders);
      } catch (cause) {
        // A single step has no backup on the disk, but its old state is still in memory.
        if (!isSet) for (const work of works) await putBack(disk, work);
        throw cause;
      }
      if (isSet) journal.commit();
    } catch (cause) {
      const failures = await rollBack(parts, { intention, begun });
      // The record stays in the journal, and the next edit tries again.
      if (failures.length > 0) throw halfDone(cause, failures);
      journal.clear();
      throw cause;
    }
    // The change is durable. If this fails, leftovers stay in the journal, and the next edit removes them.
    attempt(() => {
      if (!isSet || sweep(parts, intention).length === 0) journal.clear();
    });
  };

  return {
    /**
     * Applies all changes or none, even when the process dies; durable when it returns. `folders` must be created for
     * them, outermost first.
     */
    async run(changes: readonly Change[], folders: readonly Path[], signal?: AbortSignal): Promise<void> {
      try {
        await run(changes, folders, signal);
      } catch (cause) {
        throw toToolError(cause, pathToUri(changes[0]!.path));
      }
    },
    /**
     * Provides a temporary name beside the target. Any entry with that name is removed afterwards,
     * also when the process dies on the way.
     */
    async withTemporary<T>(target: Path, work: (beside: Beside) => Promise<T>): Promise<T> {
      const temp = newTempName();
      const step: Step = {
        target,
        kind: "file",
        how: "remove",
        before: null,
        mode: null,
        after: null,
        temp,
        backup: null,
      };
      const intention: Intention = { isSet: false, steps: [step], folders: [] };
      const { parent, name } = splitPath(target);
      using folder = confinement.openFolder(parent);
      try {
        journal.begin(intention, { durable: false });
        return await work({ folder, target: folder.at(name), temp: folder.at(temp) });
      } catch (cause) {
        throw toToolError(cause, pathToUri(target));
      } finally {
        await rm(folder.at(temp), { recursive: true, force: true });
        journal.clear();
      }
    },
    /**
     * Rolls back the half-done change of a dead process. Call it first under the lock. A change that cannot be rolled
     * back is abandoned, so that it blocks no other; the returned sentence says how to repair it.
     */
    async recover(): Promise<string | undefined> {
      try {
        const pending = journal.pending();
        if (!pending) return undefined;
        const { committed, intention } = pending;
        const failures = committed ? sweep(parts, intention) : await rollBack(parts, pending);
        const transient = failures.find(({ cause }) => hasCode(toToolError(cause, ""), "OVERLOADED"));
        if (transient) throw transient.cause;
        if (failures.length > 0) return journal.giveUp(committed ? leftOver(failures) : unrestored(failures));
        journal.clear();
        return undefined;
      } catch (cause) {
        throw toToolError(cause, "the unfinished edit of a process that died");
      }
    },
  };
}

function halfDone(cause: unknown, failures: readonly Failure[]): ToolError {
  const said = toToolError(cause, pathToUri(failures[0]!.step.target));
  const reason = said instanceof Error ? said.message : String(said);
  return new ToolError("IO_ERROR", `${reason}; ${unrestored(failures)}`, {}, { cause });
}

/** Describes how to repair an unfinished edit by hand. */
const unrestored = (failures: readonly Failure[]): string =>
  failures
    .map(({ step: { target, before }, cause }) => {
      const old =
        before === null ? "it did not exist before" : `fs.read ${toRef(before)} has its old content`;
      return `${pathToUri(target)} could not be restored after an edit that failed${reasonOf(cause)}: ${old}`;
    })
    .join("; ");

const leftOver = (failures: readonly Failure[]): string =>
  failures
    .map(({ step: { target, temp, backup }, cause }) => {
      const names = [temp, backup].filter((name) => name !== null).join(" and ");
      return `${names} beside ${pathToUri(target)} could not be removed after an edit${reasonOf(cause)}`;
    })
    .join("; ");

function reasonOf(cause: unknown): string {
  const errno = errnoOf(cause) ?? (cause instanceof Error ? errnoOf(cause.cause) : undefined);
  return errno === undefined ? "" : ` (${errno})`;
}

/** One after the other, each reporting its own errors; others in this process get their turns in between. */
async function eachInTurn(
  works: readonly Work[],
  perform: (work: Work) => Promise<void> | void,
  signal?: AbortSignal,
): Promise<void> {
  const pacer = createPacer(signal);
  for (const work of works) {
    if (pacer.due()) await pacer.pause();
    try {
      await perform(work);
    } catch (cause) {
      throw toToolError(cause, pathToUri(work.change.path));
    }
  }
}

/** The folders of a set of changes, created where missing and held open. */
function openParents(confinement: Confinement, changes: readonly Change[], missing: readonly Path[]) {
  using opened = new DisposableStack();
  const folders = new Map<Path, PinnedFolder>();
  for (const path of missing) confinement.makeFolder(path)[Symbol.dispose]();
  for (const { path } of changes) {
    const { parent } = splitPath(path);
    if (folders.has(parent)) continue;
    const folder = confinement.openFolder(parent, { readable: true });
    folders.set(parent, opened.use(folder));
    if (folder.path !== parent) throw entryError("NOT_FOUND", parent, "was moved during the edit; try again");
  }
  const kept = opened.move();

  return {
    workOn(change: Change, step: Step): Work {
      const { parent, name } = splitPath(change.path);
      const folder = folders.get(parent)!;
      return { change, step, folder, target: folder.at(name), expected: change.before?.stat };
    },
    /** Makes the names in all of them durable, including those of created folders. */
    sync(disk: Disk, made: readonly Path[] = []): void {
      for (const { fd } of folders.values()) disk.fsyncSync(fd);
      for (const path of made) {
        using above = confinement.openFolder(splitPath(path).parent);
        syncFolder(above.at("."), disk);
      }
    },
    [Symbol.dispose]: () => kept.dispose(),
  };
}
