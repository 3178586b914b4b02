import { listTools } from "./ask-server.ts";
import { clientEnvironment } from "./client-environment.ts";
import { FORMATS } from "./config-format.ts";
import { type Start, toStart, toUrl } from "./entry.ts";
import type { Machine } from "./places.ts";
import { decode, entryPath, type Target } from "./plan.ts";
import { loadFile } from "./replace-file.ts";

/** The command that the client would start for its entry; undefined when there is none. */
export function readStart(target: Target): Start | undefined {
  const entry = readEntry(target);
  return entry && toStart(target.client, entry);
}

/** The address in the client's entry, when it names a running server. */
export function readUrl(target: Target): URL | undefined {
  const entry = readEntry(target);
  return entry && toUrl(entry);
}

const readEntry = ({ client, file }: Target) =>
  FORMATS[client.format].read(decode(loadFile(file)), entryPath(client));

/** Starts the server as the client would and lists its tools; throws a ServerProblem when that fails. */
export function tryStart(start: Start, target: Target, machine: Machine): Promise<string[]> {
  return listTools(asStarted(start, target, machine));
}

/** Replaces the client's placeholders, and uses its working folder and environment. */
export function asStarted(
  start: Start,
  { client, scope }: Target,
  machine: Machine,
): Start & { cwd: string } {
  const { startsIn } = client;
  const word = startsIn === "project" ? null : startsIn.projectWord;
  const folder = startsIn === "project" ? machine.cwd : machine.home;
  const replace = (text: string) => (word === null ? text : text.replaceAll(word, machine.cwd));
  // The environment in a project's file may name code to run, and the project is not trusted yet.
  const isOwn = scope === "user";
  return {
    command: start.command,
    args: start.args.map(replace),
    env: { ...clientEnvironment(machine), ...(isOwn && start.env) },
    cwd: replace((isOwn && start.cwd) || folder),
  };
}
