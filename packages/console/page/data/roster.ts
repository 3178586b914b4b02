import type { ConsoleEvent, OctantProcess, OpenSession, Question } from "../../src/api.ts";
import { baseOf } from "../text/format.ts";
import type { LiveCall } from "./call-log.ts";

/** A question, and where it waits. */
export interface WaitingQuestion extends Question {
  readonly process: string;
}

/** Applies an event to the list of processes; the same list when nothing changed. */
export function applyEvent(
  processes: readonly OctantProcess[],
  event: ConsoleEvent,
): readonly OctantProcess[] {
  if (event.topic === "roster") {
    const others = processes.filter(({ id }) => id !== event.process);
    return event.event.type === "left" ? others : [...others, event.event.process].sort(byStart);
  }
  if (event.topic !== "questions") return processes;
  const change = event.event;
  return processes.map((process) => {
    if (process.id !== event.process) return process;
    const id = change.type === "asked" ? change.question.question_id : change.question_id;
    const others = process.questions.filter((question) => question.question_id !== id);
    return { ...process, questions: change.type === "asked" ? [...others, change.question] : others };
  });
}

const byStart = (a: OctantProcess, b: OctantProcess): number =>
  a.started_at.localeCompare(b.started_at) || a.pid - b.pid;

/** Everything that waits for a person, the longest waiting first. */
export const questionsOf = (processes: readonly OctantProcess[]): readonly WaitingQuestion[] =>
  processes
    .flatMap(({ id, questions }) => questions.map((question) => ({ ...question, process: id })))
    .sort((a, b) => a.asked_at.localeCompare(b.asked_at));

/** An entry of the roster: an open session of the agent, or a process that serves clients. */
export interface RosterEntry {
  readonly process: OctantProcess;
  readonly session?: OpenSession;
  readonly group: "needs input" | "working" | "done";
}

/** A console is in the roster with its sessions only. */
export const isInRoster = ({ command, sessions }: OctantProcess): boolean =>
  command !== "console" || sessions.length > 0;

export const GROUPS = ["needs input", "working", "done"] as const;

export function groupRoster(
  processes: readonly OctantProcess[],
): Readonly<Record<RosterEntry["group"], readonly RosterEntry[]>> {
  const entries = processes.flatMap((process): readonly RosterEntry[] => {
    const asking = new Set(process.questions.map(({ caller }) => caller));
    if (process.sessions.length === 0) return [{ process, group: groupOf(process.state, asking.size > 0) }];
    return process.sessions.map((session) => ({
      process,
      session,
      group: groupOf(session.state, asking.has(session.session_id)),
    }));
  });
  const of = (wanted: RosterEntry["group"]) => entries.filter(({ group }) => group === wanted);
  return { "needs input": of("needs input"), working: of("working"), done: of("done") };
}

function groupOf(state: OctantProcess["state"], asks: boolean): RosterEntry["group"] {
  if (asks || state === "waiting") return "needs input";
  return state === "working" ? "working" : "done";
}

/** Its folder holds nothing of a person. */
export const isHub = ({ command }: Pick<OctantProcess, "command">): boolean => command === "hub";

/** The project of a process, as a person names it. */
export const projectOf = (process: Pick<OctantProcess, "roots" | "command">): string =>
  isHub(process) ? "Hub" : process.roots[0] === undefined ? "no folder" : baseOf(process.roots[0]);

export const titleOf = (process: OctantProcess): string =>
  `${projectOf(process)} · octant ${process.command}`;

/** One of several processes, which may be of the same folder: by its client, and by its number. */
export const choiceOf = (process: OctantProcess): string =>
  [projectOf(process), process.clients[0] ?? `octant ${process.command}`, process.pid].join(" · ");

/** Whether a tool can be called in a process: a hub and a server with few tools lack some, and an edge has none. */
export const hasTool = ({ tools }: Pick<OctantProcess, "tools">, name: string): boolean =>
  tools?.includes(name) ?? true;

/** Whether a process answers calls at all. */
export const isCallable = ({ tools }: Pick<OctantProcess, "tools">): boolean => tools?.length !== 0;

/** The origin of a call in words: the project, and the session or the client. */
export function originOf(
  { process: id, caller, tool }: Pick<LiveCall, "process" | "caller" | "tool">,
  processes: readonly OctantProcess[],
): string {
  const process = processes.find((one) => one.id === id);
  if (!process) return `ended process ${Number.parseInt(id, 10)}`;
  const session = process.sessions.find(({ session_id }) => caller.endsWith(session_id));
  // Calls do not name their client, so only one that is alone and stays is known. No client calls the person's tool.
  const isKnown = process.clients.length === 1 && !isShared(process) && tool !== "console";
  const client = isKnown ? process.clients[0] : undefined;
  const who = session?.title || client || `octant ${process.command}`;
  return `${projectOf(process)}  ·  ${who}`;
}

/** Clients of a server over HTTP come and go without a word, and the hub calls its own tools. */
const isShared = (process: OctantProcess): boolean => isHub(process) || process.command.endsWith("--http");

/** The process that a view shows: the one named in its address, else one that works in a folder. */
export function chooseProcess(
  processes: readonly OctantProcess[],
  named: string | undefined,
  own: string | undefined,
): OctantProcess | undefined {
  return (
    processes.find(({ id }) => id === named) ??
    processes.find(({ id, roots, command }) => id === own && roots.length > 0 && command !== "console") ??
    processes.find(
      ({ roots, command, state }) => roots.length > 0 && command !== "console" && state !== "silent",
    ) ??
    processes.find(({ id }) => id === own) ??
    processes[0]
  );
}
