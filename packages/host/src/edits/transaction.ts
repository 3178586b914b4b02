import { rm } from "node:fs/promises";
import { attempt } from "../attempt.ts";
import { type Confinement, type PinnedFolder, splitPath } from "../confinement.ts";
import { createPacer } from "../files/pacer.ts";
import { type Path, pathToUri } from "../path.ts";
import { syncFolder } from "../sync-folder.ts";
import { entryError, toToolError } from "../system-error.ts";
import type { Disk } from "./disk.ts";
import {
  type Change,
  mustStayInPlace,
  perform,
  preserveOld,
  putBack,
  toStep,
  type Work,
  writeTemp,
} from "./file-step.ts";
import type { Intention, Journal, Step } from "./journal.ts";
import { rollBack, sweep } from "./rollback.ts";
import { newTempName } from "./temp-name.ts";

export interface Beside {
  readonly folder: PinnedFolder;
  /** Both as a system call takes them. */
  readonly target: string | Buffer;
  readonly temp: string | Buffer;
}

export type Transactions = ReturnType<typeof createTransactions>;

export function createTransactions(confinement: Confinement, journal: Journal, disk: Disk) {
  const run = async (changes: readonly Change[], folders: readonly Path[], signal?: AbortSignal) => {
    // One step on one name is atomic by itself. Everything else needs the old state until it is committed.
    const isSet = changes.length > 1 || changes.some(mustStayInPlace);
    const intention: Intention = {
      isSet,
      steps: changes.map((change) => toStep(change, isSet)),
      folders: [...folders],
    };
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
      await eachInTurn(works, (work) => perform(disk, work, isSet));
      try {
        parents.sync(disk, folders);
      } catch (cause) {
        // A single step has no backup on the disk, but its old state is still in memory.
        if (!isSet) for (const work of works) await putBack(disk, work);
        throw cause;
      }
      if (isSet) journal.commit();
    } catch (cause) {
      await rollBack(confinement, disk, intention);
      journal.clear();
      throw cause;
    }
    // The change is durable. If this fails, leftovers stay in the journal, and the next edit removes them.
    attempt(() => {
      if (isSet) sweep(confinement, disk, intention);
      journal.clear();
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
    /** Rolls back the half-done change of a dead process. Call it first under the lock. */
    async recover(): Promise<void> {
      try {
        const pending = journal.pending();
        if (!pending) return;
        if (pending.committed) sweep(confinement, disk, pending.intention);
        else await rollBack(confinement, disk, pending.intention);
        journal.clear();
      } catch (cause) {
        throw toToolError(cause, "what a process that died left behind");
      }
    },
  };
}

/** One after the other, each telling its own errors; others in this process get their turns in between. */
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
