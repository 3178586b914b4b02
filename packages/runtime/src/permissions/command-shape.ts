import { accessSync, constants, statSync } from "node:fs";
import { posix } from "node:path";
import { isWithin, type Path } from "@octant/host";
import { beginsWith, type Command } from "./commands.ts";
import type { Facts } from "./facts.ts";
import type { Places } from "./path-glob.ts";
import { resolvePath } from "./real-path.ts";
import type { CommandShape } from "./rule.ts";

const MAX_PREFIX_WORDS = 3;

/** Whether the command is sure to be of this shape: program, first words, options and operands. */
export function hasShape(command: Command, shape: CommandShape, facts: Facts, places: Places): boolean {
  const { words, program, options, operands } = shape;
  if (!beginsWith(command, words)) return false;
  const folder = folderOf(command, facts, places);
  if (program !== undefined && findProgram(words[0] as string, folder, places) !== program) return false;
  return (command.words ?? [])
    .slice(words.length)
    .every((word) =>
      isOption(word) ? options.includes(word) : operands === "inside" && leadsInside(word, folder, places),
    );
}

/** `npm run build`, without the arguments that vary; all words if only the program would remain or one leads outside. */
export function toShape(command: Command, facts: Facts, places: Places): CommandShape {
  const { words: all = [] } = command;
  const shape = shapeBy(toPrefix(all), command, facts, places);
  return hasShape(command, shape, facts, places) ? shape : shapeBy(all, command, facts, places);
}

function toPrefix(all: readonly string[]): readonly string[] {
  const firstOther = all.findIndex((word) => !/^[a-z][\w:-]*$/i.test(word));
  const leading = all.slice(0, firstOther === -1 ? all.length : firstOther);
  return leading.length > 1 ? leading.slice(0, MAX_PREFIX_WORDS) : all;
}

function shapeBy(words: readonly string[], command: Command, facts: Facts, places: Places): CommandShape {
  const rest = command.words?.slice(words.length) ?? [];
  const program = findProgram(words[0] ?? "", folderOf(command, facts, places), places);
  return {
    words: [...words],
    ...(program !== undefined && { program }),
    options: [...new Set(rest.filter(isOption))],
    operands: rest.every(isOption) ? "none" : "inside",
  };
}

/** A variable set by an argument, as for make, changes as much as an option does. */
const isOption = (word: string): boolean => /^(?:[-+]|[A-Za-z_]\w*=)/.test(word);

/** Where the command runs: the folder that the call names, or the first root; undefined when that is unclear. */
function folderOf({ folder }: Command, facts: Facts, { roots }: Places): Path | undefined {
  const { values, besides } = facts.paths();
  if (folder === undefined || besides !== "nothing" || values.length > 1) return undefined;
  const base = values[0]?.real ?? roots[0];
  return base === undefined ? undefined : posix.resolve(base, folder);
}

/** A word with `:` or `@` may name another machine. */
function leadsInside(word: string, folder: Path | undefined, { roots }: Places): boolean {
  if (folder === undefined || /[:@]/.test(word)) return false;
  try {
    const { entry, real } = resolvePath(posix.resolve(folder, word), folder, false);
    return [entry, real].every((path) => roots.some((root) => isWithin(root, path)));
  } catch {
    return false;
  }
}

function findProgram(name: string, folder: Path | undefined, { searchPath }: Places): string | undefined {
  if (name.includes("/")) return folder === undefined ? undefined : posix.resolve(folder, name);
  const places = searchPath?.split(":").filter((place) => place.startsWith("/")) ?? [];
  return places.map((place) => posix.join(place, name)).find(isProgram);
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
