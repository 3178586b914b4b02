import { type Ref, ToolError } from "@octant/core";
import type { Blobs } from "../blobs/blobs.ts";
import type { Confinement } from "../confinement.ts";
import type { Edits } from "../edits/edits.ts";
import type { Path } from "../path.ts";
import { isDamaged, setAside, toDatabaseError } from "../sqlite/database.ts";
import type { StateFolder } from "../state.ts";
import {
  changesBetween,
  isIdentical,
  type SnapshotChange,
  splitCovered,
  type Uncovered,
  undoSteps,
} from "./changes.ts";
import { MAX_CONTENT_BYTES } from "./contents.ts";
import { planRestoration } from "./restore.ts";
import { type Snapshot, takeSnapshot } from "./snapshot.ts";
import {
  changedByCommand,
  createLazyTurn,
  createTurnSpans,
  joinSpans,
  type LazyTurn,
  MOMENT_MS,
} from "./spans.ts";
import {
  type Checkpoint,
  type CheckpointStore,
  checkpointFile,
  openCheckpointStore,
  type Turn,
} from "./store.ts";

export interface CheckpointsOptions {
  readonly confinement: Confinement;
  readonly blobs: Blobs;
  readonly edits: Edits;
  readonly state: StateFolder;
  readonly env: NodeJS.ProcessEnv;
  /** For the contents of all checkpoints. */
  readonly maxBytes?: number;
  /** Called when damaged checkpoints were set aside. */
  warn(message: string): void;
}

export interface BeginOptions {
  readonly session_id?: string;
  readonly signal?: AbortSignal;
}

export interface TurnOptions {
  readonly session_id?: string;
  /** Receives the id of the turn before its first work starts. */
  onBegin?(id: number): Promise<void> | void;
}

export interface CommandEnd {
  readonly undo: Ref | null;
  readonly note?: string;
  readonly covers?: readonly string[];
  readonly uncovered?: readonly Uncovered[];
  /** Files that changed while it ran for long, by it or by the person; this ref reverts them too. */
  readonly doubtful?: { readonly paths: readonly Path[]; readonly undo: Ref };
}

export type Checkpoints = ReturnType<typeof createCheckpoints>;
export type OpenCommand = Awaited<ReturnType<Checkpoints["begin"]>>;

/**
 * Stores states of the workspace outside the user's repository, so that everything can be undone, including commands.
 */
export function createCheckpoints({
  confinement,
  blobs,
  edits,
  state,
  env,
  maxBytes = MAX_CONTENT_BYTES,
  warn,
}: CheckpointsOptions) {
  let opened: CheckpointStore | undefined;
  let last: { snapshot: Snapshot; began: number; seq: number } | undefined;
  let busy: Promise<unknown> = Promise.resolve();
  /** SQLite detects damage when it reads a page, so any use may reveal it. */
  const use = async <T>(work: (store: CheckpointStore) => T | Promise<T>, isRetry = false): Promise<T> => {
    try {
      opened ??= openCheckpointStore(state.folder("checkpoints"), maxBytes);
      return await work(opened);
    } catch (cause) {
      if (!isDamaged(cause) || isRetry) throw toDatabaseError("the list of checkpoints", cause);
      opened?.close();
      opened = undefined;
      last = undefined;
      const aside = setAside(checkpointFile(state.folder("checkpoints")));
      if (aside)
        warn(
          `the list of checkpoints was damaged; a new one was started, and the damaged file was moved to ${aside}`,
        );
      return use(work, true);
    }
  };

  const takeNow = async (
    store: CheckpointStore,
    label: string,
    session_id: string | undefined,
    signal?: AbortSignal,
  ): Promise<Checkpoint> => {
    // Another process of this workspace may have added one.
    const known = last && store.get(last.seq + 1) === undefined ? last : store.latest();
    const began = Date.now();
    const snapshot = await confinement.withoutDenials(() =>
      takeSnapshot({
        confinement,
        contents: store.contents,
        maxBytes,
        env,
        previous: known.snapshot,
        previousBegan: known.began,
        signal,
      }),
    );
    const changes = changesBetween(known.snapshot, snapshot, isIdentical);
    const current = changes.length === 0 ? store.get(known.seq) : undefined;
    const checkpoint =
      current ??
      store.add(
        { at: new Date(began).toISOString(), label, session_id: session_id ?? null },
        changes.map(({ path, to }) => ({ path, entry: to })),
        began,
      );
    last = { snapshot, began, seq: checkpoint.seq };
    return checkpoint;
  };
  const oneAtATime = <T>(work: () => Promise<T>): Promise<T> => {
    const result = busy.then(work);
    busy = result.catch(() => {});
    return result;
  };
  /** Stores the current state of the workspace; returns the same checkpoint when nothing has changed since. */
  const take = (label: string, { session_id, signal }: BeginOptions = {}): Promise<Checkpoint> =>
    oneAtATime(() =>
      use(async (store) => {
        const attempt = () => takeNow(store, label, session_id, signal);
        return attempt().catch((cause) => {
          if (cause instanceof ToolError && cause.code === "LOCKED") return attempt();
          throw cause;
        });
      }),
    );
  /** A ref for fs.apply_patch with these changes. Their contents are copied to where all undo records find them. */
  const refFor = (found: readonly SnapshotChange[]): Promise<Ref> =>
    use((store) => {
      const steps = undoSteps(found);
      const needed = new Set(
        found.flatMap(({ from }) => (from?.hash && from.kind !== "directory" ? [from.hash] : [])),
      );
      for (const hash of needed) blobs.putAll([{ hash, bytes: store.contents.get(hash) }]);
      return edits.recordUndo(steps);
    });
  /**
   * A ref for fs.apply_patch that leads from `to` back to `from`; null when there is nothing to undo. `uncovered` lists
   * changed entries that the ref leaves alone.
   */
  const undoRef = async (from: Checkpoint, to: Checkpoint) => {
    const { covered, uncovered } = await use((store) => {
      const [before, after] = [store.snapshotAt(from.seq), store.snapshotAt(to.seq)];
      return splitCovered(changesBetween(before, after), before, after);
    });
    const paths = covered.filter(({ from, to: now }) => (from ?? now)?.kind !== "directory");
    const undo = covered.length === 0 ? null : await refFor(covered);
    return { undo, uncovered, paths: paths.map(({ path }) => path) };
  };

  const observers = new Set<(around: Checkpoint) => void>();
  /** The turn of an agent: changes by its calls are its work. */
  let current: LazyTurn | undefined;
  const storeTurn = async (label: string, { session_id, onBegin }: TurnOptions, before: Checkpoint) => {
    const turn = { label, session_id: session_id ?? null, before: before.seq };
    const id = await use((store) => store.beginTurn(turn));
    const spans = createTurnSpans(id, use, () => take(`after: ${label}`, { session_id }));
    try {
      await onBegin?.(id);
    } catch (cause) {
      await spans.end();
      throw cause;
    }
    return spans;
  };
  /** Opens a turn, whose first call takes its first checkpoint; calls that are refused leave none. */
  const openTurn = (label: string, options: TurnOptions = {}) => {
    const turn = createLazyTurn((before) => storeTurn(label, options, before));
    current = turn;
    return {
      async end(): Promise<void> {
        if (current === turn) current = undefined;
        await turn.end();
      },
    };
  };
  /** Runs a call of the open turn; changes at other times are the work of others. */
  const during = async <T>(label: string, work: () => Promise<T>, isCommand = false): Promise<T> => {
    const turn = current;
    if (!turn) return work();
    const before = await take(label);
    const spans = await turn.begun(before);
    if (!spans) return work();
    await spans.enter(before, isCommand);
    for (const observe of observers) observe(before);
    try {
      return await work();
    } finally {
      const after = await spans.leave();
      if (after) for (const observe of observers) observe(after);
    }
  };

  const running = new Set<{ readonly label: string; readonly beside: Set<string> }>();
  /** Stores the state before a command that is to be undone as a whole; it is part of the open turn, if there is one. */
  const begin = async (label: string, options: BeginOptions = {}) => {
    const before = await take(label, options);
    const since = performance.now();
    const outer = await current?.begun(before);
    const turn = outer ?? (await storeTurn(label, options, before));
    await turn.enter(before, true);
    for (const observe of observers) observe(before);
    const work = { label, beside: new Set<string>() };
    let ended: Promise<CommandEnd> | undefined;
    for (const other of running) {
      other.beside.add(label);
      work.beside.add(other.label);
    }
    running.add(work);
    const end = async (): Promise<CommandEnd> => {
      running.delete(work);
      const isLong = performance.now() - since > MOMENT_MS;
      const after = await take(`after: ${label}`, { session_id: options.session_id });
      await turn.leave(after);
      for (const observe of observers) observe(after);
      const others = outer ? [] : await use((store) => store.alongside(turn.id));
      if (!outer) await turn.end();
      try {
        const { undo, uncovered, paths } = await undoRef(before, after);
        const covers = new Set([...work.beside, ...others.map((other) => other.label)]);
        const isDoubtful = undo !== null && isLong && paths.length > 0;
        return {
          undo: isDoubtful ? null : undo,
          ...(isDoubtful && { doubtful: { paths, undo } }),
          ...(undo && covers.size > 0 && { covers: [...covers] }),
          ...(uncovered.length > 0 && { uncovered }),
        };
      } catch (cause) {
        if (!(cause instanceof ToolError)) throw cause;
        return { undo: null, note: cause.message };
      }
    };
    return {
      /**
       * The ref reverts everything that changed until the first call; null when nothing did, when it could not be
       * stored, or when the person may have made the changes (`doubtful`). `covers` lists other work that ran at the same time, whose changes the ref reverts too; `uncovered`
       * lists changed entries that the ref leaves alone.
       */
      end: () => (ended ??= end()),
    };
  };

  return {
    take,
    begin,
    openTurn,
    during,
    /** Returns a function that gives an undo ref for the work that ran since; undefined when it changed nothing. */
    observe() {
      const seen: Checkpoint[] = [];
      const observe = (around: Checkpoint) => void seen.push(around);
      observers.add(observe);
      return async (): Promise<Ref | undefined> => {
        observers.delete(observe);
        const [first, last] = [seen[0], seen.at(-1)];
        return first && last && ((await undoRef(first, last)).undo ?? undefined);
      };
    },
    /** Newest first. */
    turns: ({ limit = 50, session_id }: { readonly limit?: number; readonly session_id?: string } = {}) =>
      use((store) => store.turns(limit, session_id)),
    /**
     * Plans the undo or redo of a turn, preserving the changes of others. A file that changed while a long command
     * ran, or since a command that was cut off began, is a conflict and listed as `doubtful`: the command changed it,
     * or the person.
     */
    async plan({ id }: Turn, direction: "undo" | "redo") {
      const now = await take("before undo");
      return use((store) => {
        const stored = store.spans(id);
        const inCommands =
          direction === "undo" ? stored.flatMap((span) => changedByCommand(store, span)) : [];
        const asked = new Set(inCommands.map(({ path }) => path));
        const spans = joinSpans(stored).map(({ before, after, joints }) => {
          const omitted = joints.map((seq) => store.omittedAt(seq));
          const first = store.snapshotAt(before);
          const last = store.snapshotAt(after ?? now.seq);
          // An interrupted span has no end, so later changes may be the person's.
          const isUncertain = (path: Path) => after === null || asked.has(path);
          if (direction === "undo") return { goal: first, base: last, omitted, isUncertain };
          return { goal: last, base: first, omitted };
        });
        const ordered = direction === "undo" ? spans.toReversed() : spans;
        return planRestoration(store.contents, ordered, store.snapshotAt(now.seq));
      });
    },
    refFor,
    /** Records that a turn was undone or redone. */
    mark: ({ id, after }: Turn, undone: boolean): Promise<void> =>
      use((store) => {
        // An interrupted turn ends where it is reverted from; who made its last changes stays unknown.
        if (undone && after === null) {
          const { seq } = store.latest();
          for (const span of store.spans(id)) if (span.after === null) store.endSpan(span.id, seq, true);
          store.endTurn(id);
        }
        store.markTurn(id, undone);
      }),
    /** Other turns that worked at the same time, so that their changes are among those of this one. */
    alongside: ({ id }: Turn) => use((store) => store.alongside(id)),
    undoRef,
    async close(): Promise<void> {
      await busy;
      opened?.close();
    },
  };
}
