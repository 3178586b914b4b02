import { lstatSync, readdirSync } from "node:fs";
import { posix } from "node:path";
import type { PlainCommand } from "@octant/core";
import { isWithin, type Path, toNative } from "@octant/host";
import { resolveProgram } from "./command-shape.ts";
import { HARMLESS_PROGRAMS, type HarmlessUse } from "./harmless-programs.ts";
import type { Places } from "./path-glob.ts";
import { resolvePath } from "./real-path.ts";
import { parseLine, type ShellWord } from "./shell-words.ts";

/**
 * Whether the call only reads the project: every command of it is a known program of the system with harmless options,
 * on files of the project. A line in which a shell could see anything else, such as a substitution, is not.
 */
export function onlyReads({ command, folder = "." }: PlainCommand, places: Places): boolean {
  const [root = "/"] = places.roots;
  const commands =
    typeof command === "string"
      ? parseLine(command)
      : [{ words: command.map((text) => ({ text, glob: false })), inputs: [], joint: "" as const }];
  if (!commands) return false;
  let at = insidePath(folder, root, places);
  for (const { words, inputs, joint } of commands) {
    if (at === undefined) return false;
    const where = { folder: at, places };
    if (!inputs.every(({ text, glob }) => !glob && isReadable(text, where))) return false;
    const [program, place, ...more] = words;
    if (program?.text !== "cd") {
      if (!isHarmless(asTest(words) ?? afterXargs(words, where) ?? words, at, places)) return false;
      continue;
    }
    // The commands after it run only where it succeeded.
    if (joint !== "&&" || !place || place.glob || place.text.startsWith("-") || more.length > 0) return false;
    at = insidePath(place.text, at, places);
  }
  return true;
}

/** `[ -f a.ts ]` as a shell has it built in; a program of that name may be the project's. */
function asTest([first, ...others]: readonly ShellWord[]): readonly ShellWord[] | undefined {
  const isBracket = (word: ShellWord | undefined, sign: string) => word?.glob && word.text === sign;
  if (!isBracket(first, "[") || !isBracket(others.at(-1), "]")) return undefined;
  return [{ text: "test", glob: false }, ...others.slice(0, -1)];
}

/** No option of theirs writes a file or runs a program, so that no word of the input of xargs can make them. */
const TAKE_ANY_WORD: ReadonlySet<string> = new Set(
  "cat head wc grep egrep fgrep ls echo basename dirname stat du md5sum sha1sum sha256sum".split(" "),
);
const XARGS: HarmlessUse = {
  short: "0rn:L:P:",
  long: "null no-run-if-empty max-args= max-lines= max-procs=",
};

/**
 * The command that xargs runs with words of its input, if these can do nothing but make it read. They may name any
 * file, so this holds only where such a line sees the project alone.
 */
function afterXargs(
  words: readonly ShellWord[],
  { folder, places }: Where,
): readonly ShellWord[] | undefined {
  const [first, ...others] = words;
  if (first?.text !== "xargs" || first.glob || !isOfSystem("xargs", folder, places)) return undefined;
  const rest = [...others];
  while (rest[0]?.text.startsWith("-")) {
    const option = readOption(XARGS, rest.shift() as ShellWord);
    const value = option?.takesNext ? rest.shift()?.text : option?.value;
    if (!option || (value === undefined ? option.takesNext : !/^\d+$/.test(value))) return undefined;
  }
  return rest[0] && TAKE_ANY_WORD.has(rest[0].text) ? rest : undefined;
}

/** The same for one command of a line, which is in this folder. */
export function isHarmless(words: readonly ShellWord[], folder: Path, places: Places): boolean {
  const [program, ...rest] = words;
  if (!program || program.glob || !Object.hasOwn(HARMLESS_PROGRAMS, program.text)) return false;
  if (!isOfSystem(program.text, folder, places)) return false;
  // It has been found just now.
  const found = HARMLESS_PROGRAMS[program.text] as HarmlessUse;
  const begun = skipFirst(found, rest, folder, places);
  const { use, others } = select(found, begun.words);
  return (
    use !== undefined && begun.folder !== undefined && fits(use, others, { folder: begun.folder, places })
  );
}

/** What is left after the options before the word of `sub`, and the folder that they lead to; undefined when it is outside. */
function skipFirst(
  { before }: HarmlessUse,
  words: readonly ShellWord[],
  folder: Path | undefined,
  places: Places,
): { readonly words: readonly ShellWord[]; readonly folder: Path | undefined } {
  const [first, place, ...others] = words;
  if (!before || !first || folder === undefined) return { words, folder };
  if (before.flags.includes(first.text)) return skipFirst({ before }, words.slice(1), folder, places);
  if (first.text !== before.folder || !place) return { words, folder };
  const to = place.glob ? undefined : insidePath(place.text, folder, places);
  return skipFirst({ before }, others, to, places);
}

/** Built-in commands of a shell have no file. */
const BUILTINS: ReadonlySet<string> = new Set("command type test echo printf true false pwd".split(" "));

/** A program of the project may have the name of a harmless one. One that is nowhere does nothing. */
function isOfSystem(name: string, folder: Path, places: Places): boolean {
  const found = resolveProgram(name, folder, places);
  if (found === undefined) return BUILTINS.has(name) || !mayBeMade(places);
  try {
    const { entry, real } = resolvePath(found, "/", false);
    return [entry, real].every((path) => !places.roots.some((root) => isWithin(root, path)));
  } catch {
    return false;
  }
}

/** Whether a folder of the search path is the project's, or depends on where the command runs. */
const mayBeMade = ({ searchPath = "", roots }: Places): boolean =>
  searchPath
    .split(":")
    .some((place) => !place.startsWith("/") || roots.some((root) => isWithin(root, posix.normalize(place))));

function select(
  use: HarmlessUse,
  rest: readonly ShellWord[],
): { readonly use?: HarmlessUse; readonly others: readonly ShellWord[] } {
  const [first, ...others] = rest;
  const sub =
    first && !first.glob && use.sub && Object.hasOwn(use.sub, first.text) ? use.sub[first.text] : undefined;
  if (sub) return select(sub, others);
  return use.needsSub ? { others: rest } : { use, others: rest };
}

interface Where {
  readonly folder: Path;
  readonly places: Places;
}

function fits(use: HarmlessUse, words: readonly ShellWord[], where: Where): boolean {
  const operands: ShellWord[] = [];
  const values: string[] = [];
  for (let index = 0; index < words.length; index++) {
    // Within the bounds of the list.
    const word = words[index] as ShellWord;
    if (word.text === "--") {
      operands.push(...words.slice(index + 1));
      break;
    }
    if (!/^-./.test(word.text)) {
      operands.push(word);
      continue;
    }
    const option = readOption(use, word);
    if (!option) return false;
    if (option.value !== undefined) values.push(option.value);
    if (!option.takesNext) continue;
    const next = words[++index];
    if (!next || next.glob || (next.text.startsWith("-") && !/^-\d+$/.test(next.text))) return false;
    values.push(next.text);
  }
  return areHarmless(use, operands, where) && values.every((value) => isReadable(value, where));
}

function areHarmless(use: HarmlessUse, operands: readonly ShellWord[], where: Where): boolean {
  const { maxOperands = Number.POSITIVE_INFINITY, script } = use;
  if (operands.length > maxOperands || (operands.length > 0 && !use.operands)) return false;
  // A glob may become any number of words, and words such as -exec when it begins like one.
  if (operands.some(({ glob }) => glob) && use.maxOperands !== undefined) return false;
  if (operands.some(({ glob, text }) => glob && !expandsToFiles(text, where))) return false;
  const [first, ...rest] = operands;
  if (script && first && (first.glob || !script.test(first.text))) return false;
  if (script && !first && use.operands !== "data") return false;
  const named = script ? rest : operands;
  if (use.operands === "data") return true;
  if (use.operands === "inside")
    return named.every(
      ({ text, glob }) => glob || insidePath(text, where.folder, where.places) !== undefined,
    );
  return named.every(({ text, glob }) => glob || isReadable(text, where));
}

interface Option {
  readonly value?: string | undefined;
  readonly takesNext?: boolean;
}

/** Undefined for an option that is not listed. */
function readOption(use: HarmlessUse, { text, glob }: ShellWord): Option | undefined {
  const [, dashes = "", name = "", assigned] = /^(--?)([^=]*)(?:=([\s\S]*))?$/.exec(text) ?? [];
  if (/[*?[\]]/.test(name) && glob) return undefined;
  if (dashes === "--") return readLong(use.long, name, assigned);
  if (glob) return undefined;
  if (use.digits && /^\d+$/.test(name) && assigned === undefined) return {};
  return (
    (assigned === undefined ? readLong(use.words, name, undefined) : undefined) ??
    readShort(use.short, text.slice(1))
  );
}

function readLong(
  listed: string | undefined,
  name: string,
  assigned: string | undefined,
): Option | undefined {
  const names = listed?.split(/\s+/) ?? [];
  if (names.includes(`${name}=`)) return assigned === undefined ? { takesNext: true } : { value: assigned };
  if (names.includes(`${name}=?`)) return { value: assigned };
  return names.includes(name) && name !== "" && assigned === undefined ? {} : undefined;
}

function readShort(listed = "", cluster: string): Option | undefined {
  for (const [index, letter] of [...cluster].entries()) {
    const at = letter === ":" || letter === "?" ? -1 : listed.indexOf(letter);
    if (at < 0) return undefined;
    const mark = listed[at + 1];
    const attached = cluster.slice(index + 1);
    if (mark === ":") return attached === "" ? { takesNext: true } : { value: attached };
    if (mark === "?") return { value: attached };
  }
  return {};
}

/** A word that names nothing is a pattern, a revision or a mistake. */
function isReadable(word: string, { folder, places }: Where): boolean {
  if (word === "" || word === "/dev/null") return true;
  if (word.startsWith("~") || word.includes("\0")) return false;
  const entry = lstatSync(toNative(posix.resolve(folder, word)), { throwIfNoEntry: false });
  return entry === undefined || insidePath(word, folder, places) !== undefined;
}

/** Whether a glob expands only to names in the project, and to none that looks like an option. */
function expandsToFiles(glob: string, { folder, places }: Where): boolean {
  const literal = /^[^*?[\]]*/.exec(glob)?.[0] ?? "";
  const parent = literal.slice(0, literal.lastIndexOf("/") + 1) || ".";
  if (glob.split("/").includes("..") || insidePath(parent, folder, places) === undefined) return false;
  if (literal !== "") return true;
  try {
    return !readdirSync(toNative(folder)).some((name) => name.startsWith("-"));
  } catch {
    return false;
  }
}

/** Where a path really leads; undefined when that is outside, or unclear. */
function insidePath(name: string, folder: Path, { roots }: Places): Path | undefined {
  try {
    const { entry, real } = resolvePath(
      name.startsWith("file:") ? name : posix.resolve(folder, name),
      folder,
      false,
    );
    return [entry, real].every((path) => roots.some((root) => isWithin(root, path))) ? real : undefined;
  } catch {
    return undefined;
  }
}
