import { lstatSync } from "node:fs";
import { posix } from "node:path";
import { findOnPath, isWithin, type Path, toNative } from "@octant/host";
import { beginsWith, type Command } from "./commands.ts";
import type { Facts } from "./facts.ts";
import type { Places } from "./path-glob.ts";
import { resolvePath } from "./real-path.ts";
import type { CommandShape } from "./rule.ts";

/**
 * Commands that only read or change the files that they name, by program: their operands may vary. All others run,
 * install, publish or reach what their words say, or do so in another version, so a rule has exactly their words.
 */
const NAMES_FILES: Readonly<Record<string, ReadonlySet<string>>> = {
  git: new Set("add blame check-ignore diff log ls-files mv restore rm show status".split(" ")),
  go: new Set(["fmt", "vet"]),
  cargo: new Set(["fmt"]),
  ruff: new Set(["check", "format"]),
  biome: new Set(["check", "format", "lint"]),
  deno: new Set(["check", "fmt", "lint"]),
};

/** Whether the command is sure to be of this shape: program, folder, first words, options and operands. */
export function hasShape(command: Command, shape: CommandShape, facts: Facts, places: Places): boolean {
  const { words, program, options, operands } = shape;
  if (!beginsWith(command, words)) return false;
  const folder = folderOf(command, facts, places);
  if (folder === undefined || folder !== posix.resolve(places.roots[0] ?? "/", shape.folder ?? "."))
    return false;
  if (program !== undefined && resolveProgram(words[0] as string, folder, places) !== program) return false;
  return (command.words ?? [])
    .slice(words.length)
    .every((word) =>
      isOption(word) ? options.includes(word) : operands === "inside" && isInside(word, folder, places),
    );
}

/** `git diff` with files of the project; all words if the others are not files or the command does more with them. */
export function toShape(command: Command, facts: Facts, places: Places): CommandShape {
  const { words: all = [] } = command;
  const [program = "", name = ""] = all;
  const shape = shapeBy(all.slice(0, 2), command, facts, places);
  const varies = NAMES_FILES[program.replace(/^.*\//, "")]?.has(name) ?? false;
  return varies && hasShape(command, shape, facts, places) ? shape : shapeBy(all, command, facts, places);
}

function shapeBy(words: readonly string[], command: Command, facts: Facts, places: Places): CommandShape {
  const rest = command.words?.slice(words.length) ?? [];
  const folder = folderOf(command, facts, places);
  const inRoot = folder === undefined ? "" : posix.relative(places.roots[0] ?? "/", folder);
  const program = resolveProgram(words[0] ?? "", folder, places);
  return {
    words: [...words],
    ...(program !== undefined && { program }),
    ...(inRoot !== "" && { folder: inRoot }),
    options: [...new Set(rest.filter(isOption))],
    operands: rest.every(isOption) ? "none" : "inside",
  };
}

/** A variable set by an argument, as for make, changes as much as an option does. */
const isOption = (word: string): boolean => /^(?:[-+]|[A-Za-z_]\w*=)/.test(word);

/** Where the command runs: the folder that the call names, or the first root; undefined when that is unclear. */
export function folderOf({ folder }: Command, facts: Facts, { roots }: Places): Path | undefined {
  const { values, besides } = facts.paths();
  if (folder === undefined || besides !== "nothing" || values.length > 1) return undefined;
  const base = values[0]?.real ?? roots[0];
  return base === undefined ? undefined : posix.resolve(base, folder);
}

/** Whether a word names a file or folder of the project; any other word is data. One with `:` or `@` may name another machine. */
function isInside(word: string, folder: Path, { roots }: Places): boolean {
  if (/[:@]/.test(word)) return false;
  const named = posix.resolve(folder, word);
  if (lstatSync(toNative(named), { throwIfNoEntry: false }) === undefined) return false;
  try {
    const { entry, real } = resolvePath(named, folder, false);
    return [entry, real].every((path) => roots.some((root) => isWithin(root, path)));
  } catch {
    return false;
  }
}

/** The file that a shell in this folder starts for the name; undefined when that is unclear. */
export function resolveProgram(
  name: string,
  folder: Path | undefined,
  { searchPath }: Places,
): string | undefined {
  if (name.includes("/")) return folder === undefined ? undefined : posix.resolve(folder, name);
  return findOnPath(name, searchPath);
}
