import { createMentionFinder, listCommands, type OpenedAgent } from "@octant/app";
import type { Completer, Completion } from "@octant/terminal";

const MAX_ITEMS = 50;

/** Completes commands after "/", their arguments, and paths and symbols of the workspace after "@". */
export function createCompleter(opened: OpenedAgent, cwd: string): Completer {
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
async function argumentsOf(opened: OpenedAgent, cwd: string, line: string): Promise<Completion[]> {
  const [, name, typed = ""] = /^\/(\S+)\s+(\S*)$/.exec(line) ?? [];
  const command = listCommands(opened).find((one) => one.name === name);
  const values = await command?.complete?.({ opened, cwd, signal: new AbortController().signal });
  return (values ?? [])
    .filter((value) => value.startsWith(typed))
    .slice(0, MAX_ITEMS)
    .map((value) => ({ value }));
}

const commands = (opened: OpenedAgent, word: string): Completion[] =>
  listCommands(opened)
    .filter(({ name }) => `/${name}`.startsWith(word))
    .map(({ name, argument = "[]", summary }) => ({
      value: `/${name}`,
      detail: summary,
      runs: argument.startsWith("["),
    }));
