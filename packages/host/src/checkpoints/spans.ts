import { ToolError } from "@octant/core";
import { changesBetween, type SnapshotChange, splitCovered } from "./changes.ts";
import type { Checkpoint, CheckpointStore, StoredSpan } from "./store.ts";

type UseStore = <T>(work: (store: CheckpointStore) => T) => Promise<T>;

export type TurnSpans = ReturnType<typeof createTurnSpans>;

/** A person hardly saves a file while a shorter command runs. */
export const MOMENT_MS = 5_000;

/** Records when a turn works: between its spans, others change files. */
export function createTurnSpans(id: number, use: UseStore, takeAfter: () => Promise<Checkpoint>) {
  let users = 0;
  let span: Promise<number> | undefined;
  let commandSince: number | undefined;
  const endSpan = async ({ seq }: Checkpoint) => {
    const ended = span;
    const isLong = commandSince !== undefined && performance.now() - commandSince > MOMENT_MS;
    span = undefined;
    const row = await ended;
    if (row !== undefined) await use((store) => store.endSpan(row, seq, isLong));
  };
  return {
    id,
    /** Work that runs at the same time shares a span. */
    async enter(before: Checkpoint, isCommand: boolean): Promise<void> {
      users += 1;
      if (users === 1) {
        span = use((store) => store.beginSpan(id, before.seq));
        commandSince = undefined;
      }
      if (isCommand) commandSince ??= performance.now();
      await span;
    },
    /** Returns the checkpoint after the work, unless it could not be taken. */
    async leave(taken?: Checkpoint): Promise<Checkpoint | undefined> {
      const after = taken ?? (await takeAfter().catch(orNone));
      users -= 1;
      if (users > 0) return after;
      if (after) await endSpan(after);
      else span = undefined;
      return after;
    },
    async end(): Promise<void> {
      if (span) await endSpan(await takeAfter());
      await use((store) => store.endTurn(id));
    },
  };
}

export type LazyTurn = ReturnType<typeof createLazyTurn>;

/** A turn that is stored with its first work, so that refused calls leave nothing. */
export function createLazyTurn(store: (before: Checkpoint) => Promise<TurnSpans>) {
  let stored: Promise<TurnSpans> | undefined;
  let isOver = false;
  const retryable = async (before: Checkpoint) => {
    try {
      return await store(before);
    } catch (cause) {
      stored = undefined;
      throw cause;
    }
  };
  return {
    /** undefined when the turn has ended. */
    async begun(before: Checkpoint): Promise<TurnSpans | undefined> {
      if (isOver) return undefined;
      stored ??= retryable(before);
      return stored;
    },
    async end(): Promise<void> {
      isOver = true;
      await (await stored)?.end();
    },
  };
}

/** The work itself succeeded. Without the end of its span, an undo asks about all later changes. */
function orNone(cause: unknown): undefined {
  if (!(cause instanceof ToolError)) throw cause;
}

export interface JoinedSpan extends Pick<StoredSpan, "before" | "after"> {
  /** The checkpoints where spans were joined: others may have changed the entries that they omit. */
  readonly joints: readonly number[];
}

/** No covered entry changed between two spans that share a checkpoint, so they are joined. */
export function joinSpans(spans: readonly StoredSpan[]): JoinedSpan[] {
  const joined: JoinedSpan[] = [];
  for (const { before, after } of spans) {
    const last = joined.at(-1);
    // A span that was cut off leaves doubts, which must not extend to the one before it.
    if (last?.after !== before || after === null) joined.push({ before, after, joints: [] });
    else joined[joined.length - 1] = { before: last.before, after, joints: [...last.joints, before] };
  }
  return joined;
}

/** The files that changed while a long command ran; nobody knows whether it changed them, or the person. */
export function changedByCommand(
  store: CheckpointStore,
  { before, after, long }: StoredSpan,
): readonly SnapshotChange[] {
  if (!long || after === null) return [];
  const [first, last] = [store.snapshotAt(before), store.snapshotAt(after)];
  const { covered } = splitCovered(changesBetween(first, last), first, last);
  return covered.filter(({ from, to }) => (from ?? to)?.kind !== "directory");
}
