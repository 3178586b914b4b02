import { listCommands } from "../slash/index.ts";
import { createMentionFinder } from "./find-mentions.ts";
import type { OpenedAgent } from "./open-agent.ts";

const MAX_ITEMS = 50;

/** A replacement for the word at the cursor. */
export interface InputCompletion {
  value: string;
  detail?: string;
  /** A command that can run without an argument. */
  runs?: boolean;
}

/** Completes commands after "/", their arguments, and paths and symbols of the workspace after "@". */
export function createCompleter(
  opened: OpenedAgent,
  cwd: string,
): (word: string) => Promise<InputCompletion[]> {
  const find = createMentionFinder(opened);
  return async (word) => {
    if (word.startsWith("/"))
      return /\s/.test(word) ? argumentsOf(opened, cwd, word) : commands(opened, word);
    if (!word.startsWith("@")) return [];
    const found = await find(word.replace(/^@"?/, ""));
    return found.map(({ text, detail }) => ({ value: toMention(text), ...(detail && { detail }) }));
  };
}

/** A name with spaces is quoted. */
const toMention = (text: string): string => (/\s/.test(text) ? `@"${text}"` : `@${text}`);

/** Completions for the argument of a command. */
async function argumentsOf(opened: OpenedAgent, cwd: string, line: string): Promise<InputCompletion[]> {
  const [, name, typed = ""] = /^\/(\S+)\s+(\S*)$/.exec(line) ?? [];
  const command = listCommands(opened).find((one) => one.name === name);
  const values = await command?.complete?.({ opened, cwd, signal: new AbortController().signal });
  return (values ?? [])
    .filter((value) => value.startsWith(typed))
    .slice(0, MAX_ITEMS)
    .map((value) => ({ value }));
}

const commands = (opened: OpenedAgent, word: string): InputCompletion[] =>
  listCommands(opened)
    .filter(({ name }) => `/${name}`.startsWith(word))
    .map(({ name, argument = "[]", summary }) => ({
      value: `/${name}`,
      detail: summary,
      runs: argument.startsWith("["),
    }));
