import { type Ref, ToolError } from "@octant/core";
import type { Blobs } from "../blobs/blobs.ts";
import type { Confinement } from "../confinement.ts";
import type { Edits } from "../edits/edits.ts";
import type { StateFolder } from "../state.ts";
import { changesBetween, type SnapshotChange, undoSteps } from "./changes.ts";
import { type Snapshot, takeSnapshot } from "./snapshot.ts";
import { type Checkpoint, type CheckpointStore, openCheckpointStore } from "./store.ts";

export interface CheckpointsOptions {
  readonly confinement: Confinement;
  readonly blobs: Blobs;
  readonly edits: Edits;
  readonly state: StateFolder;
  readonly env: NodeJS.ProcessEnv;
}

/** Keeps states of the workspace outside the user's repository, so that anything can be undone, commands included. */
export interface Checkpoints {
  /** Keeps the state that the workspace is in now; the same checkpoint again when nothing changed since. */
  take(label: string, options?: { session_id?: string; signal?: AbortSignal }): Promise<Checkpoint>;
  list(limit?: number): Promise<readonly Checkpoint[]>;
  get(seq: number): Promise<Checkpoint>;
  /** What differs between two checkpoints. */
  changes(from: Checkpoint, to: Checkpoint): Promise<readonly SnapshotChange[]>;
  /** A ref that fs.apply_patch takes to get from `to` back to `from`; null when nothing differs. */
  undoRef(from: Checkpoint, to: Checkpoint): Promise<Ref | null>;
  close(): Promise<void>;
}

export function createCheckpoints({
  confinement,
  blobs,
  edits,
  state,
  env,
}: CheckpointsOptions): Checkpoints {
  let opened: Promise<CheckpointStore> | undefined;
  let last: { snapshot: Snapshot; began: number; seq: number } | undefined;
  let busy: Promise<unknown> = Promise.resolve();
  const open = () => {
    opened ??= openCheckpointStore(state.folder("checkpoints"));
    return opened;
  };

  const takeNow = async (
    label: string,
    session_id: string | undefined,
    signal?: AbortSignal,
  ): Promise<Checkpoint> => {
    const store = await open();
    // Another process of this workspace may have added one.
    const known = last && store.get(last.seq + 1) === undefined ? last : store.latest();
    const began = Date.now();
    const snapshot = await takeSnapshot({
      confinement,
      blobs,
      env,
      previous: known.snapshot,
      previousBegan: known.began,
      ...(signal && { signal }),
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
  const changes = async (from: Checkpoint, to: Checkpoint) => {
    const store = await open();
    return changesBetween(store.snapshotAt(from.seq), store.snapshotAt(to.seq));
  };

  return {
    take: (label, { session_id, signal } = {}) => oneAtATime(() => takeNow(label, session_id, signal)),
    list: async (limit = 50) => (await open()).list(limit),
    async get(seq) {
      const found = (await open()).get(seq);
      if (found) return found;
      throw new ToolError(
        "NOT_FOUND",
        `there is no checkpoint ${seq}; 'octant undo --list' shows those that are kept`,
        {},
      );
    },
    changes,
    async undoRef(from, to) {
      const found = await changes(from, to);
      return found.length === 0 ? null : edits.recordUndo(undoSteps(found));
    },
    async close() {
      await busy;
      if (opened) (await opened).close();
    },
  };
}
