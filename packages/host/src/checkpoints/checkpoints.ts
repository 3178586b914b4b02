import { type Ref, ToolError } from "@octant/core";
import type { Blobs } from "../blobs/blobs.ts";
import type { Confinement } from "../confinement.ts";
import type { Edits } from "../edits/edits.ts";
import type { Path } from "../path.ts";
import { isDamaged, setAside, toToolError } from "../sqlite/database.ts";
import type { StateFolder } from "../state.ts";
import { changesBetween, type SnapshotChange, splitStored, undoSteps } from "./changes.ts";
import { MAX_CONTENT_BYTES } from "./contents.ts";
import { planCutRestoration, planRestoration, type Restoration } from "./restore.ts";
import { type Snapshot, takeSnapshot } from "./snapshot.ts";
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
  /** Includes the work of others meanwhile: an agent's turn runs commands. */
  readonly whole?: boolean;
  readonly signal?: AbortSignal;
}

export interface TurnEnd {
  readonly undo: Ref | null;
  readonly note?: string;
  readonly covers?: readonly string[];
  readonly tooLarge?: readonly Path[];
}

export type Checkpoints = ReturnType<typeof createCheckpoints>;
export type OpenTurn = Awaited<ReturnType<Checkpoints["begin"]>>;

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
      if (!isDamaged(cause) || isRetry) throw toToolError("the list of checkpoints", cause);
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
    const snapshot = await takeSnapshot({
      confinement,
      contents: store.contents,
      maxBytes,
      env,
      previous: known.snapshot,
      previousBegan: known.began,
      signal,
    });
    const changes = changesBetween(known.snapshot, snapshot);
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
  const take = (
    label: string,
    { session_id, signal }: Omit<BeginOptions, "whole"> = {},
  ): Promise<Checkpoint> =>
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
   * A ref for fs.apply_patch that leads from `to` back to `from`; null when there is nothing to undo. `tooLarge` lists
   * changed files that the ref leaves alone.
   */
  const undoRef = async (from: Checkpoint, to: Checkpoint) => {
    const changes = await use((store) =>
      changesBetween(store.snapshotAt(from.seq), store.snapshotAt(to.seq)),
    );
    const { stored, tooLarge } = splitStored(changes);
    return { undo: stored.length === 0 ? null : await refFor(stored), tooLarge };
  };
  let wholeTurns = 0;
  const running = new Set<{ readonly label: string; readonly beside: Set<string> }>();
  /** Stores the state before work that is to be undone as a whole. */
  const begin = async (label: string, { session_id, whole = false, signal }: BeginOptions = {}) => {
    const before = await take(label, { session_id, signal });
    const isPart = wholeTurns > 0 && !whole;
    const turn = { label, session_id: session_id ?? null, before: before.seq };
    const id = isPart ? undefined : await use((store) => store.beginTurn(turn));
    if (whole) wholeTurns += 1;
    const work = { label, beside: new Set<string>() };
    if (!whole) {
      for (const other of running) {
        other.beside.add(label);
        work.beside.add(other.label);
      }
      running.add(work);
    }
    return {
      /** undefined while it is part of another one. */
      id,
      /**
       * The ref reverts everything that changed meanwhile; null when nothing did, or when it could not be stored.
       * `covers` lists other work that ran at the same time, whose changes the ref reverts too; `tooLarge` lists
       * changed files that the ref leaves alone.
       */
      async end(): Promise<TurnEnd> {
        if (whole) wholeTurns -= 1;
        running.delete(work);
        const after = await take(`after: ${label}`, { session_id });
        if (id !== undefined) await use((store) => store.endTurn(id, after.seq));
        try {
          const { undo, tooLarge } = await undoRef(before, after);
          const span = { before: before.seq, after: after.seq };
          const others = id === undefined ? [] : await use((store) => store.alongside({ id, ...span }));
          const covers = new Set([...work.beside, ...others.map((other) => other.label)]);
          return {
            undo,
            ...(undo && covers.size > 0 && { covers: [...covers] }),
            ...(tooLarge.length > 0 && { tooLarge }),
          };
        } catch (cause) {
          if (!(cause instanceof ToolError)) throw cause;
          return { undo: null, note: cause.message };
        }
      },
    };
  };

  return {
    take,
    begin,
    /** Newest first. */
    turns: ({ limit = 50, session_id }: { readonly limit?: number; readonly session_id?: string } = {}) =>
      use((store) => store.turns(limit, session_id)),
    /** Plans the undo or redo of a turn, preserving later changes. */
    async plan({ before, after, session_id }: Turn, direction: "undo" | "redo"): Promise<Restoration> {
      const now = await take("before undo");
      return use((store) => {
        const states = (goal: number, base: number) => ({
          goal: store.snapshotAt(goal),
          base: store.snapshotAt(base),
          now: store.snapshotAt(now.seq),
        });
        if (after === null) return planCutRestoration(states(before, store.lastOf(session_id, before)));
        return planRestoration(
          store.contents,
          direction === "undo" ? states(before, after) : states(after, before),
        );
      });
    },
    refFor,
    /** Records that a turn was undone or redone. */
    mark: ({ id, after }: Turn, undone: boolean): Promise<void> =>
      use((store) => {
        // An interrupted turn ends where it is reverted from.
        if (undone && after === null) store.endTurn(id, store.latest().seq);
        store.markTurn(id, undone);
      }),
    /** Other turns that ran at the same time, so that their changes are among those of this one. */
    alongside: ({ id, before, after, session_id }: Turn) =>
      use((store) => store.alongside({ id, before, after: after ?? store.lastOf(session_id, before) })),
    undoRef,
    async close(): Promise<void> {
      await busy;
      opened?.close();
    },
  };
}
