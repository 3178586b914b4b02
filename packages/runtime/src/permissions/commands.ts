import { matchWildcards, type Wildcard } from "@octant/core";
import { expandGitAlias } from "./git-aliases.ts";
import type { Places } from "./path-glob.ts";
import {
  type PlainCommand,
  parsePlainCommand,
  parseShell,
  type ShellWord,
  splitPlainCommands,
} from "./shell-words.ts";

/** A command of a call, parsed once for all rules. */
export interface Command {
  /** Its words, when it is for sure one command and nothing else. */
  readonly words: readonly string[] | undefined;
  /** The words of every command that it may hold, also inside other words; undefined when only a shell could determine them. */
  readonly within: readonly (readonly ShellWord[])[] | undefined;
  /** Where it runs, from the folder of the call; undefined when a `cd` before it leaves that unclear. */
  readonly folder: string | undefined;
}

/** How deep text inside words is looked at: `sh -c "sh -c '…'"`. */
const MAX_NESTING = 4;

export const readCommand = (command: string | readonly string[], folder?: string): Command => ({
  folder,
  words: typeof command === "string" ? parsePlainCommand(command) : command,
  within: typeof command === "string" ? readScript(command, 0) : withNested([command.map(toLiteral)], 0),
});

/** Variables that make a shell, an interpreter or git run other code, or find other programs. */
export const RUNS_CODE =
  /^(?:BASH_ENV|ENV|ZDOTDIR|PROMPT_COMMAND|PS[0-4]|BASH_FUNC_.*|SHELLOPTS|BASHOPTS|IFS|PATH|LD_.*|DYLD_.*|NODE_OPTIONS|PYTHON(?:STARTUP|PATH|HOME)|PERL5(?:OPT|LIB|DB)|RUBY(?:OPT|LIB)|_?JAVA(?:_TOOL)?_OPTIONS|GIT_.*|.*(?:EDITOR|PAGER|BROWSER|ASKPASS))$/s;

/** Text that a command reads, for deny and prompt rules: every line of it may be a command, to a shell or as a word of code. */
export const readInput = (text: string): Command => ({
  words: undefined,
  folder: undefined,
  within: text.replaceAll("\\\n", "").split("\n").map(toBareWords),
});

/**
 * The commands of a line such as `git status && npm test`, each by itself, when a shell could see nothing in it but
 * plain commands one after the other; otherwise the line as one command. An allow rule has to cover every one.
 */
export function readCommands(command: string | readonly string[]): readonly Command[] {
  const parts = typeof command === "string" ? splitPlainCommands(command) : undefined;
  if (!parts) return [readCommand(command, ".")];
  const [first, ...others] = parts;
  const [program, folder = "-", ...more] = first?.words ?? [];
  // The others run only where `cd` succeeded.
  const moves = program === "cd" && parts.every(({ joint }) => /^(?:&&|\||)$/.test(joint));
  const start = moves && first?.joint === "&&" && more.length === 0 ? folder : "-";
  const isClear = !others.some(changesFolder) && !start.startsWith("-");
  const isStill = !parts.some(changesFolder);
  return parts.map(({ words }, index) =>
    readCommand(words, index === 0 || isStill ? "." : isClear ? start : undefined),
  );
}

const changesFolder = ({ words: [program = ""] }: PlainCommand): boolean => CHANGES_FOLDER.test(program);

const CHANGES_FOLDER = /^(?:cd|pushd|popd)$/;

/** Programs whose arguments decide what they destroy, reach or run, or which change later commands: no rule by shape is safe for them. */
const NEVER_BY_SHAPE = new Set(
  `rm rmdir shred dd mkfs truncate unlink chmod chown chgrp kill pkill killall curl wget nc ssh scp rsync find ln mv
  tee sed awk perl sh bash zsh dash fish ksh busybox toybox env xargs parallel eval exec command builtin source .
  alias set trap hash enable shopt pushd popd sudo doas su pkexec runuser chroot
  unshare nsenter setsid stdbuf nohup timeout time nice ionice taskset flock watch strace script`.split(
    /\s+/,
  ),
);

/** Programs that run the code they are given; a rule is safe when it names the file or module. */
const INTERPRETER = /^(?:python|node|ruby|php|lua|deno|bun|pwsh)[\d.]*$/;
const TAKES_CODE = /^(?:-|-\w*[cepr]|--eval|--print)$|^--(?:eval|print)=/;

export function isRisky({ words }: Command): boolean {
  const [program = "", ...rest] = words ?? [];
  const name = program.replace(/^.*\//, "");
  if (words === undefined || NEVER_BY_SHAPE.has(name)) return true;
  return (
    INTERPRETER.test(name) &&
    (rest.every((word) => word.startsWith("-")) || rest.some((word) => TAKES_CODE.test(word)))
  );
}

/**
 * For an allow rule: the command is sure to begin with exactly these words. Text counts only when a shell could see
 * nothing in it but one plain command.
 */
export const beginsWith = ({ words }: Command, prefix: readonly string[]): boolean =>
  words !== undefined && prefix.every((word, index) => words[index] === word);

/**
 * For a deny or prompt rule: the words occur in this order in any command of it, with anything before and between, so
 * that `env`, `sudo`, a path before the program or options do not hide it. An unreadable command counts as a match.
 */
export const mayContain = (
  { within }: Command,
  prefix: readonly string[],
  places: Places = NOWHERE,
): boolean =>
  within === undefined ||
  within.some((words) => hasInOrder(words, prefix) || mayContainAlias(words, prefix, places));

const NOWHERE: Places = { roots: [] };

function mayContainAlias(words: readonly ShellWord[], prefix: readonly string[], places: Places): boolean {
  const alias = expandGitAlias(
    words.map(({ text }) => text),
    places,
  );
  if (alias === undefined) return false;
  const within = alias === null ? undefined : readScript(alias, 0);
  return within === undefined || within.some((one) => hasInOrder(one, prefix));
}

function hasInOrder(words: readonly ShellWord[], prefix: readonly string[]): boolean {
  let found = 0;
  for (const word of words) {
    if (!canBe(word, prefix[found] as string, found === 0)) continue;
    // A glob can become several words, so the rest may come out of it too.
    if (++found === prefix.length || word.glob) return true;
  }
  return false;
}

function canBe({ text, glob }: ShellWord, wanted: string, isProgram: boolean): boolean {
  if (!glob) return text === wanted || (isProgram && text.endsWith(wanted) && text.endsWith(`/${wanted}`));
  const name = isProgram && !wanted.includes("/") ? text.slice(text.lastIndexOf("/") + 1) : text;
  return matchWildcards(toParts(name), wanted);
}

/** A bracket expression matches any character: a pattern may match too much here, never too little. */
const toParts = (glob: string): readonly Wildcard[] =>
  (glob.match(/\[[^\]]*\]?|[^\]]/gu) ?? []).map((part): Wildcard => {
    if (part === "*") return { many: () => true };
    return { one: (char) => part === "?" || part.startsWith("[") || char === part };
  });

function readScript(text: string, nesting: number): Command["within"] {
  const commands = parseShell(text);
  return commands && withNested(commands, nesting);
}

/**
 * A word with blanks or signs of a shell in it may be a script, as in `sh -c "…"` or `alias.x=!…`, or prose, as in
 * `git commit -m "…"`. An unreadable word after an option that takes a script is unclear; elsewhere its bare words count.
 * So is one that sets a variable for other code.
 */
function withNested(commands: readonly (readonly ShellWord[])[], nesting: number): Command["within"] {
  const all = [...commands];
  for (const words of commands) {
    if (words.some(({ text }) => RUNS_CODE.test(/^([^=\s]*)=/.exec(text)?.[1] ?? ""))) return undefined;
    const values = words.map(({ text, glob }) => ({ text: toValue(text), glob }));
    if (values.some(({ text }, index) => text !== words[index]?.text)) all.push(values);
    for (const [index, { text }] of values.entries()) {
      if (!/[\s;&|()<>]/.test(text)) continue;
      const isScript = SCRIPT_OPTION.test(words[index - 1]?.text ?? "");
      const inner = nesting < MAX_NESTING ? readScript(text, nesting + 1) : undefined;
      if (!inner && isScript) return undefined;
      for (const one of inner ?? [toBareWords(text)]) all.push(isScript ? one : [IN_PROSE, ...one]);
    }
  }
  return all;
}

/** The part of a word that may be a script: `alias.x=!rm -rf .` */
const toValue = (text: string): string => text.replace(/^[^=\s]*=/, "").replace(/^!/, "");

/** Before words that are more likely prose than a command: "git flow is explained" names no alias. */
const IN_PROSE: ShellWord = { text: "", glob: false };

const toBareWords = (text: string): readonly ShellWord[] => text.split(/[\s'"`$(){};&|<>\\]+/).map(toLiteral);

const SCRIPT_OPTION = /^(?:-\w*[ce]|--command|--eval|eval)$/;
const toLiteral = (text: string): ShellWord => ({ text, glob: false });
