import {
  afterBeginning,
  type CallStep,
  type HostTurns,
  type OpenTurn,
  type Session,
  type StampedEvent,
  textOf,
} from "@octant/agent";
import { toOneLine } from "@octant/core";
import { notesOn } from "./undo.ts";

/** Records in the session's log which checkpoint turn its calls belong to. */
const MARK = "checkpoint";
const MAX_TURNS = 500;
const MAX_LABEL_CHARS = 80;

/** Opens a turn before its first call that may change files; calls that are permitted take the checkpoints. */
export function createTurnCheckpoints(turns: HostTurns, session: Session) {
  let turn: Promise<OpenTurn | undefined> | undefined;
  const step: CallStep = async (call, { reads_only }, next) => {
    if (!reads_only) {
      turn ??= open(turns, session);
      await turn;
    }
    return next(call);
  };
  return {
    step,
    /** The host has ended the turn with itself; the next change begins another one. */
    forget() {
      turn = undefined;
    },
    async end() {
      const ended = turn;
      turn = undefined;
      // A turn that failed to open has already reported its error.
      await ended?.then(
        (opened) => opened?.end(),
        () => {},
      );
    },
  };
}

/** Runs a command of the person as a turn: an undo takes back what its sub-agents changed. */
export async function asTurn<T>(
  turns: HostTurns,
  session: Session,
  line: string,
  work: () => Promise<T>,
): Promise<T> {
  const turn = await open(turns, session, line);
  try {
    return await work();
  } finally {
    await turn?.end();
  }
}

/** The mark lets a rewind find the turn of a message, also in a fork of the session. */
const open = (
  turns: HostTurns,
  session: Session,
  label = lastRequest(session),
): Promise<OpenTurn | undefined> =>
  turns.open({
    label: toLabel(label),
    session_id: session.id,
    onBegin: (turn) =>
      afterBeginning(session, () => session.append({ type: "mark", name: MARK, data: { turn } })),
  });

function lastRequest({ conversation: { messages } }: Session): string {
  const asked = messages.findLast((one) => one.role === "user" && one.origin === "person");
  return asked?.role === "user" ? textOf(asked.content) : "";
}

function toLabel(request: string): string {
  const text = toOneLine(request.trim());
  return text.length > MAX_LABEL_CHARS ? `${text.slice(0, MAX_LABEL_CHARS - 1).toWellFormed()}…` : text;
}

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
  /** How many turns were undone, each of which can be redone. */
  readonly turns: number;
  readonly restored: readonly string[];
  /** As they were, but with the changes of the person. */
  readonly merged: readonly string[];
  /** Left alone, because the person has changed them. */
  readonly changed: readonly string[];
  /** Left alone, because a command or the person changed them while it ran; an undo of the turn can take them back. */
  readonly doubtful: readonly { readonly turn: number; readonly paths: readonly string[] }[];
  /** Left alone for other reasons. */
  readonly notes: readonly string[];
}

/**
 * Reverts the file changes of these turns, one after the other. Files that the person has changed, or may have changed
 * while a command ran, stay.
 */
export async function rewindFiles(turns: HostTurns, ids: readonly number[]): Promise<RewoundFiles> {
  const known = await turns.list({ limit: MAX_TURNS });
  const restored = new Set<string>();
  const merged = new Set<string>();
  const changed = new Set<string>();
  const doubtful: { turn: number; paths: readonly string[] }[] = [];
  const notes = new Set<string>();
  let undone = 0;
  for (const id of ids) {
    const turn = known.find((one) => one.id === id);
    if (!turn || turn.undone) continue;
    const plan = await turns.plan(turn, "undo");
    await plan.apply({ overwrite: false });
    undone += 1;
    for (const { path } of plan.restored) restored.add(path);
    for (const path of plan.merged) merged.add(path);
    const unknown = new Set(plan.doubtful);
    for (const path of plan.conflicts) if (!unknown.has(path)) changed.add(path);
    if (unknown.size > 0) doubtful.push({ turn: id, paths: plan.doubtful });
    for (const note of notesOn(plan)) notes.add(note);
  }
  return {
    turns: undone,
    restored: [...restored].filter((path) => !merged.has(path)).sort(),
    merged: [...merged].sort(),
    changed: [...changed].sort(),
    doubtful,
    notes: [...notes],
  };
}
