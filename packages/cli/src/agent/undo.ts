import { ToolError } from "@octant/core";
import type { SnapshotChange, Turn } from "@octant/host";
import type { Octant } from "../octant.ts";

export type Direction = "undo" | "redo";

/** The effect of an undo or redo. */
export interface UndoPlan {
  readonly direction: Direction;
  readonly turn: Turn;
  /** The files to restore, with paths relative to the workspace where possible. */
  readonly restored: readonly PathChange[];
  /** Files changed since, whose changes can be merged with the restored state. */
  readonly merged: readonly string[];
  /** Files changed since that would lose those changes. */
  readonly conflicts: readonly string[];
  /** Changed files that are too large to be kept; left alone. */
  readonly too_large: readonly string[];
  /** Other turns that ran at the same time; it takes back their changes too. */
  readonly alongside: readonly string[];
  /** A diff from the current state. */
  diff(options: { overwrite: boolean }): Promise<string>;
  /** Applies it with fs.apply_patch; files with conflicts are left alone unless `overwrite` is set. */
  apply(options: { overwrite: boolean }): Promise<void>;
}

export interface PathChange {
  readonly path: string;
  readonly change: "restored" | "created" | "removed";
}

/** The turns of this workspace, newest first. */
export const listTurns = ({ workspace }: Octant, session_id?: string): Promise<readonly Turn[]> =>
  workspace.checkpoints.turns({ ...(session_id !== undefined && { session_id }) });

/** The newest turn that is not undone; for a redo, the last undone one. */
export async function planUndo(octant: Octant, direction: Direction, session_id?: string): Promise<UndoPlan> {
  const turn = choose(await listTurns(octant, session_id), direction);
  if (!turn) throw nothingTo(direction);
  return planTurn(octant, turn, direction);
}

export async function planTurn(octant: Octant, turn: Turn, direction: Direction): Promise<UndoPlan> {
  const { checkpoints, confinement } = octant.workspace;
  const plan = await checkpoints.plan(turn, direction);
  const alongside = await checkpoints.alongside(turn);
  const patch = async (overwrite: boolean, dry_run: boolean) => {
    const changes = [...plan.changes, ...(overwrite ? plan.conflicts : [])];
    if (changes.length === 0) return undefined;
    return octant.client.fs.apply_patch({ patch: await checkpoints.refFor(changes), dry_run });
  };
  const root = confinement.roots[0] ?? "/";
  const shown = (path: string) => (path.startsWith(`${root}/`) ? path.slice(root.length + 1) : path);
  return {
    direction,
    turn,
    restored: plan.changes
      .filter(({ path }) => !plan.merged.includes(path))
      .map((change) => ({ path: shown(change.path), change: kindOf(change) })),
    merged: plan.merged.map(shown),
    conflicts: plan.conflicts.map(({ path }) => shown(path)),
    too_large: plan.tooLarge.map(shown),
    alongside: alongside.map(({ label }) => label),
    async diff({ overwrite }) {
      return (await patch(overwrite, true))?.diff ?? "";
    },
    async apply({ overwrite }) {
      await patch(overwrite, false);
      await checkpoints.mark(turn, direction === "undo");
    },
  };
}

function choose(turns: readonly Turn[], direction: Direction): Turn | undefined {
  if (direction === "undo") return turns.find(({ undone }) => !undone);
  const firstDone = turns.findIndex(({ undone }) => !undone);
  return turns[(firstDone === -1 ? turns.length : firstDone) - 1];
}

const kindOf = ({ from, to }: SnapshotChange): PathChange["change"] => {
  if (!from) return "removed";
  return to ? "restored" : "created";
};

const nothingTo = (direction: Direction) =>
  new ToolError(
    "NOT_FOUND",
    direction === "undo"
      ? "there is nothing to undo here; turns of the agent, and commands of a server with --checkpoints, can be undone"
      : "nothing to redo; an undone turn can be redone until the next change",
    {},
  );
