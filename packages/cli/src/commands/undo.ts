import type { Direction, HostTurns, Turn, UndoPlan } from "@octant/agent";
import { createTurns, describeUndo, openSessions, planTurnById, planUndo, whyAsked } from "@octant/app";
import { toOneLine } from "@octant/core";
import { toColumns } from "../columns.ts";
import {
  defineCommand,
  EXIT,
  type Flags,
  type FlagValues,
  type Io,
  print,
  printJson,
  toCount,
} from "../command.ts";
import { openOctant } from "../open-octant.ts";
import { note, write } from "../output.ts";
import { ask } from "../questions.ts";
import { logLine, workspaceFlags } from "../workspace-flags.ts";

const flags = {
  root: workspaceFlags.root,
  session: { summary: "Only turns of this session", value: "ID" },
  turn: { summary: "This turn, by its number in the list, also when it is undone already", value: "N" },
  "dry-run": { summary: "Show what would change, and change nothing" },
  overwrite: { summary: "Also restore files that you changed, or may have changed while a command ran" },
  keep: { summary: "Skip those files and restore the rest" },
  json: { summary: "Print as JSON" },
} as const satisfies Flags;

const NOTES = `A turn of the agent is undone as a whole, with everything that its commands did to files that are not
ignored. Your changes, during the turn and since, stay: they are merged where they fit together with the undo;
where they do not, you are asked. Nobody knows who changed a file while a command ran: if it ran for more than
five seconds, you are asked about those files too, also about new ones. Without a terminal, or with --json,
nobody is asked: without --overwrite or --keep the command then changes nothing and exits with 1. An undo
leaves and lists what no checkpoint covers: ignored and unreadable files, files over 32 MiB, and the refs of
repositories, with the git command that brings each back.
The last 500 states are stored, outside your repository, with at most 1 GiB of contents.`;

export const undo = defineCommand({
  name: "undo",
  summary: "Undo the file changes of the agent's last turn, including those of its commands",
  flags: { ...flags, list: { summary: "List what can be undone, newest first" } },
  notes: `${NOTES}
  octant undo --list        what can be undone
  octant undo --dry-run     what would change
  octant redo               make the undone turn again`,
  run: ({ flags: given }, io) => restore("undo", given, io),
});

export const redo = defineCommand({
  name: "redo",
  summary: "Redo the turn that was undone last",
  flags,
  notes: NOTES,
  run: ({ flags: given }, io) => restore("redo", { ...given, list: false }, io),
});

type Given = FlagValues<typeof flags> & { readonly list: boolean };

async function restore(direction: Direction, given: Given, io: Io): Promise<number> {
  await using octant = await openOctant({ root: given.root }, io);
  const turns = createTurns(octant);
  const session_id =
    given.session === undefined ? undefined : await openSessions(octant.workspace).resolve(given.session);
  if (given.list) return list(turns, session_id, given.json, io);
  const turn = toCount("turn", given.turn);
  const plan =
    turn === undefined
      ? await planUndo(turns, direction, session_id)
      : await planTurnById(turns, direction, turn);
  const { conflicts } = plan;
  if (given["dry-run"]) {
    const diff = await plan.diff({ overwrite: given.overwrite });
    if (given.json) return printJson({ ...summary(plan), diff }, io);
    write(`would be ${describeUndo(plan, given.overwrite)}\n${diff}`, io);
    return EXIT.OK;
  }
  const choice = conflicts.length === 0 ? "keep" : await choose(plan, given, io);
  if (choice === "nothing") {
    logLine(
      `nothing was changed: ${whyAsked(plan)}; --overwrite restores it, --keep leaves it and does the rest`,
      io,
    );
    return EXIT.FAILED;
  }
  await plan.apply({ overwrite: choice === "overwrite" });
  return given.json ? printJson(summary(plan), io) : print(describeUndo(plan, choice === "overwrite"), io);
}

type Choice = "overwrite" | "keep" | "nothing";

async function choose(plan: UndoPlan, { overwrite, keep, json }: Given, io: Io): Promise<Choice> {
  if (overwrite) return "overwrite";
  if (keep) return "keep";
  if (json || !io.stdin.isTTY || !io.stderr.isTTY) return "nothing";
  note(`${await plan.diff({ overwrite: true, only: "conflicts" })}\n${whyAsked(plan)}`, io);
  const answer = await ask("[o] overwrite it, [k] keep it and do the rest, [n] nothing: ", io);
  if (/^o/i.test(answer)) return "overwrite";
  return /^k/i.test(answer) ? "keep" : "nothing";
}

const summary = ({ diff: _diff, apply: _apply, ...facts }: UndoPlan) => facts;

async function list(all: HostTurns, session_id: string | undefined, json: boolean, io: Io): Promise<number> {
  const turns = await all.list({ session_id });
  if (json) return printJson(turns, io);
  return print(
    turns.length === 0 ? "there is nothing to undo here" : toColumns(turns.map(toRow)).join("\n"),
    io,
  );

  function toRow(turn: Turn): string[] {
    const state = turn.undone ? "undone" : turn.after === null ? "cut off" : "";
    return [String(turn.id), turn.at.slice(0, 16).replace("T", " "), toOneLine(turn.label), state];
  }
}
