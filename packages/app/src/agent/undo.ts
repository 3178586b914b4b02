import type { Direction, HostTurns, PlannedUndo, Turn, UndoPlan } from "@octant/agent";
import { action, createRegistry, defineTool, ToolError, toOneLine } from "@octant/core";
import type { ChangedRef, SnapshotChange } from "@octant/host";
import { z } from "zod";
import { LOCAL_CALLER } from "../edges.ts";
import type { Octant } from "../octant.ts";

/** The checkpoints of a workspace in this process. */
export const createTurns = (octant: Octant): HostTurns => ({
  open: async ({ label, ...turn }) => octant.checkpoints?.openTurn(label, turn),
  list: (filter) => octant.workspace.checkpoints.turns(filter),
  plan: (turn, direction) => planTurn(octant, turn, direction),
});

/** The newest turn that is not undone; for a redo, the last undone one. */
export async function planUndo(
  turns: HostTurns,
  direction: Direction,
  session_id?: string,
): Promise<UndoPlan> {
  const turn = choose(await turns.list({ session_id }), direction);
  if (!turn) throw nothingTo(direction);
  return turns.plan(turn, direction);
}

/** A turn may be undone again, for the files that the first undo left alone. */
export async function planTurnById(turns: HostTurns, direction: Direction, id: number): Promise<UndoPlan> {
  const turn = (await turns.list({ limit: MAX_TURNS })).find((one) => one.id === id);
  if (turn) return turns.plan(turn, direction);
  throw new ToolError("NOT_FOUND", `there is no turn ${id}; 'octant undo --list' lists them`, {});
}

/** As many as are stored. */
const MAX_TURNS = 500;

async function planTurn(octant: Octant, turn: Turn, direction: Direction): Promise<UndoPlan> {
  const { checkpoints, confinement, edits } = octant.workspace;
  const plan = await checkpoints.plan(turn, direction);
  const alongside = await checkpoints.alongside(turn);
  const changesOf = (overwrite: boolean): readonly SnapshotChange[] => {
    const conflicts = new Set(plan.conflicts.map(({ path }) => path));
    return overwrite
      ? [...plan.changes.filter(({ path }) => !conflicts.has(path)), ...plan.conflicts]
      : plan.changes;
  };
  const patch = async (changes: readonly SnapshotChange[], dry_run: boolean) => {
    if (changes.length === 0) return undefined;
    // The person decides here, so rules for callers do not apply.
    const request = { patch: await checkpoints.refFor(changes), dry_run };
    return checkpoints.during(direction, () => edits.apply(request));
  };
  const root = confinement.roots[0] ?? "/";
  const shown = (path: string) => (path.startsWith(`${root}/`) ? path.slice(root.length + 1) : path);
  return {
    direction,
    turn,
    restored: plan.changes
      .filter(({ path }) => !plan.merged.includes(path) && !plan.conflicts.some((one) => one.path === path))
      .map((change) => ({ path: shown(change.path), change: kindOf(change) })),
    merged: plan.merged.map(shown),
    conflicts: plan.conflicts.map(({ path }) => shown(path)),
    doubtful: plan.doubtful.map(shown),
    uncovered: plan.uncovered.map((one) => ({ ...one, path: shown(one.path) })),
    meanwhile: plan.meanwhile.map(shown),
    alongside: alongside.map(({ label }) => label),
    async diff({ overwrite, only }) {
      return (await patch(only ? plan.conflicts : changesOf(overwrite), true))?.diff ?? "";
    },
    async apply({ overwrite }) {
      const files = [
        ...new Set([...plan.changes, ...(overwrite ? plan.conflicts : [])].map(({ path }) => path)),
      ];
      await recorded(
        octant,
        { direction, turn: turn.label, overwrite, files: files.map(shown) },
        async () => {
          await patch(changesOf(overwrite), false);
          await checkpoints.mark(turn, direction === "undo");
        },
      );
    },
  };
}

interface Recorded {
  readonly direction: Direction;
  readonly turn: string;
  readonly overwrite: boolean;
  readonly files: readonly string[];
}

/** Does the work as a call of the person, which the audit log records. */
async function recorded(octant: Octant, { direction, ...facts }: Recorded, work: () => Promise<void>) {
  let failure: { readonly cause: unknown } | undefined;
  const input = z.strictObject({ turn: z.string(), overwrite: z.boolean(), files: z.array(z.string()) });
  const tool = defineTool({
    name: "turn",
    summary: "Turns of the agent.",
    actions: {
      [direction]: action({
        summary: direction === "undo" ? "Undo a turn." : "Redo a turn.",
        access: "write",
        timing: "sync",
        intent: "apply",
        input,
        output: z.object({}),
        examples: [{ title: direction, input: { turn: "Fix the test", overwrite: false, files: [] } }],
        async run() {
          await work().catch((cause: unknown) => {
            failure = { cause };
            throw cause;
          });
          return {};
        },
      }),
    },
  });
  const { envelope } = await octant.dispatchAsPerson(createRegistry([tool]))(
    { tool: "turn", action: direction, input: facts },
    { caller: LOCAL_CALLER, signal: new AbortController().signal },
  );
  if (failure) throw failure.cause;
  if (!envelope.ok) throw new Error(envelope.error.message);
}

/** One line for the turn and one for each file. */
export function describeUndo(plan: PlannedUndo, isOverwritten: boolean): string {
  const { direction, turn, restored, merged, conflicts, doubtful } = plan;
  const done = direction === "undo" ? "undone" : "redone";
  const kept = (path: string) =>
    doubtful.includes(path) ? "kept, because a command or you changed it" : "kept as you changed it";
  const lines = [
    `${done}: ${toOneLine(turn.label)}`,
    ...restored.map(({ path, change }) => `  ${change} ${toOneLine(path)}`),
    ...merged.map((path) => `  merged ${toOneLine(path)}`),
    ...conflicts.map((path) =>
      isOverwritten ? `  ${done} too: ${toOneLine(path)}` : `  ${kept(path)}: ${toOneLine(path)}`,
    ),
    ...notesOn(plan).map((note) => `  ${note}`),
  ];
  return lines.join("\n");
}

const MAX_NAMED = 20;

/** Why the person is asked before files with conflicts are restored. */
export function whyAsked({ conflicts, doubtful }: PlannedUndo): string {
  const [unknown, changed] = [true, false].map((is) =>
    conflicts
      .filter((path) => doubtful.includes(path) === is)
      .map(toOneLine)
      .join(", "),
  );
  const reasons = [
    changed && `you changed ${changed} too`,
    unknown && `a command, or you while it ran, changed ${unknown}`,
  ];
  return reasons.filter(Boolean).join("; ");
}

/** The entries that an undo or redo leaves alone, and why, one line each. */
export function notesOn({ direction, uncovered, meanwhile, alongside }: PlannedUndo): string[] {
  const not = direction === "undo" ? "not undone" : "not redone";
  const list = (title: string, paths: readonly string[]) => {
    if (paths.length === 0) return [];
    const more = paths.length > MAX_NAMED ? ` and ${paths.length - MAX_NAMED} more` : "";
    return [`${title}: ${paths.slice(0, MAX_NAMED).map(toOneLine).join(", ")}${more}`];
  };
  const reasons = [...new Set(uncovered.map(({ why }) => why))].filter((why) => why !== "repository");
  return [
    ...reasons.flatMap((why) =>
      list(
        `${not}, because ${REASONS[why]}`,
        uncovered.filter((one) => one.why === why).map(({ path }) => path),
      ),
    ),
    ...uncovered.flatMap(({ path, refs = [] }) =>
      describeRefs(refs).map((what) => `${not} in ${toOneLine(path)}: ${what}`),
    ),
    ...list("left alone, because others changed it during the turn", meanwhile),
    ...list("with what ran at the same time", alongside),
  ];
}

const REASONS = {
  ignored: "it is or was ignored",
  unreadable: "it is or was not readable",
  special: "it is not an ordinary file",
  "too large": "it is too large to be stored",
} as const;

function describeRefs(refs: readonly ChangedRef[]): string[] {
  const head = refs.find(({ name }) => name === "HEAD");
  if (head && head.after === undefined)
    return ["the repository was removed, and only a copy of it can restore it"];
  if (head && head.before === undefined) return ["the repository is new"];
  return refs.slice(0, MAX_NAMED).map(describeRef);
}

function describeRef({ name, before, after }: ChangedRef): string {
  if (before === undefined) return `${name} is new`;
  const what = `${name} was ${before}, and is ${after ?? "gone"}`;
  const target = /^ref: (.+)$/.exec(before)?.[1];
  if (name === "reftable") return what;
  return `${what}; git ${target === undefined ? `update-ref ${name} ${before}` : `symbolic-ref ${name} ${target}`} brings it back`;
}

function choose(turns: readonly Turn[], direction: Direction): Turn | undefined {
  if (direction === "undo") return turns.find(({ undone }) => !undone);
  const firstDone = turns.findIndex(({ undone }) => !undone);
  return turns[(firstDone === -1 ? turns.length : firstDone) - 1];
}

const kindOf = ({ from, to }: SnapshotChange) => (from ? (to ? "restored" : "created") : "removed");

const nothingTo = (direction: Direction) =>
  new ToolError(
    "NOT_FOUND",
    direction === "undo"
      ? "there is nothing to undo here; turns of the agent, and commands of a server with --checkpoints, can be undone"
      : "nothing to redo; an undone turn can be redone until the next change",
    {},
  );
