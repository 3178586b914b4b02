import { type Marked, type StampedEvent, textOf } from "@octant/agent";
import type { Octant } from "../octant.ts";
import { planTurn } from "./undo.ts";

const MARK = "checkpoint";
const MAX_TURNS = 500;

/** Records in the session's log which checkpoint turn its calls belong to. */
export const toTurnMark = (turn: number): Marked => ({ type: "mark", name: MARK, data: { turn } });

/** A message to which a session can be rewound. */
export interface EarlierPrompt {
  readonly seq: number;
  readonly text: string;
  /** The turns that have changed files since, newest first. */
  readonly turns: readonly number[];
}

/** The person's messages, oldest first. */
export function listPrompts(events: Iterable<StampedEvent>): readonly EarlierPrompt[] {
  const prompts: { seq: number; text: string; turns: number[] }[] = [];
  for (const event of events) {
    if (event.type === "user" && event.origin === "person")
      prompts.push({ seq: event.seq, text: textOf(event.content.slice(0, 1)), turns: [] });
    const turn = turnOf(event);
    if (turn !== undefined) for (const prompt of prompts) prompt.turns.unshift(turn);
  }
  return prompts;
}

function turnOf(event: StampedEvent): number | undefined {
  if (event.type !== "mark" || event.name !== MARK) return undefined;
  const { turn } = Object(event.data);
  return typeof turn === "number" ? turn : undefined;
}

export interface RewoundFiles {
  readonly restored: readonly string[];
  /** Left alone, because the person has changed them since. */
  readonly changed: readonly string[];
  /** Left alone, because checkpoints do not store files of their size. */
  readonly tooLarge: readonly string[];
}

/**
 * Reverts the file changes of these turns, one after the other. Files that the person has changed since stay.
 */
export async function rewindFiles(octant: Octant, turns: readonly number[]): Promise<RewoundFiles> {
  const known = await octant.workspace.checkpoints.turns({ limit: MAX_TURNS });
  const restored = new Set<string>();
  const changed = new Set<string>();
  const tooLarge = new Set<string>();
  for (const id of turns) {
    const turn = known.find((one) => one.id === id);
    if (!turn || turn.undone) continue;
    const plan = await planTurn(octant, turn, "undo");
    await plan.apply({ overwrite: false });
    for (const path of [...plan.restored.map((one) => one.path), ...plan.merged]) restored.add(path);
    for (const path of plan.conflicts) changed.add(path);
    for (const path of plan.too_large) tooLarge.add(path);
  }
  return { restored: [...restored].sort(), changed: [...changed].sort(), tooLarge: [...tooLarge].sort() };
}
