import { listTools } from "./ask-server.ts";
import { clientEnvironment } from "./client-environment.ts";
import { FORMATS } from "./config-format.ts";
import { type Start, toStart, toUrl } from "./entry.ts";
import type { Machine } from "./places.ts";
import { decode, entryPath, type Target } from "./plan.ts";
import { loadFile } from "./replace-file.ts";

/** What the client would start for the entry in its file; undefined when there is none that starts a program. */
export function readStart(target: Target): Start | undefined {
  const entry = readEntry(target);
  return entry && toStart(target.client, entry);
}

/** The server that the entry in the client's file leads to, when it is one that somebody else starts. */
export function readUrl(target: Target): URL | undefined {
  const entry = readEntry(target);
  return entry && toUrl(entry);
}

const readEntry = ({ client, file }: Target) =>
  FORMATS[client.format].read(decode(loadFile(file)), entryPath(client));

/** Starts the server as the client would and lists its tools; a ServerProblem says why that did not work. */
export function tryStart(start: Start, target: Target, machine: Machine): Promise<string[]> {
  return listTools(asStarted(start, target, machine));
}

/** The words of the client replaced, in the folder and with the environment that it starts servers in. */
export function asStarted(
  start: Start,
  { client, scope }: Target,
  machine: Machine,
): Start & { cwd: string } {
  const { startsIn } = client;
  const word = startsIn === "project" ? null : startsIn.projectWord;
  const folder = startsIn === "project" ? machine.cwd : machine.home;
  const replace = (text: string) => (word === null ? text : text.replaceAll(word, machine.cwd));
  // The environment that a project's file asks for may name code to run, and nobody has said yet that it is trusted.
  const isOwn = scope === "user";
  return {
    command: start.command,
    args: start.args.map(replace),
    env: { ...clientEnvironment(machine), ...(isOwn && start.env) },
    cwd: replace((isOwn && start.cwd) || folder),
  };
}
