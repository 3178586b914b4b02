import { findMentions, listCommands, type OpenedAgent } from "@octant/app";
import type { Completer, Completion } from "@octant/terminal";

const MAX_ITEMS = 50;

/** Completes commands after "/", their arguments, and workspace paths after "@". */
export function createCompleter(opened: OpenedAgent, cwd: string): Completer {
  return async (word) => {
    if (word.startsWith("/"))
      return /\s/.test(word) ? argumentsOf(opened, cwd, word) : commands(opened, word);
    if (!word.startsWith("@")) return [];
    const paths = await findMentions(opened.octant, word.slice(1));
    return paths.slice(0, MAX_ITEMS).map((path) => ({ value: `@${path}` }));
  };
}

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
