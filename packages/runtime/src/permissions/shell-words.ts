/** A word as the shell hands it on; in a glob `*`, `?`, `[` and `]` are still signs. */
export interface ShellWord {
  readonly text: string;
  readonly glob: boolean;
}

const BLANK = /[ \t]+/y;
const SPACE = /[ \t\n]+/y;
const PROGRAM = /[\w+:,./-]+(?![^ \t\n;|&])/y;
const WORD = /(?:[\w@%+=:,./-]+|'[^'\r\n\0]*'|"[^"$`\\!\r\n\0]*")(?![^ \t\n;|&])/y;
/** Redirections that write to no file. */
const HARMLESS = /(?:[12]?>&[12]|[12]?>[ \t]?\/dev\/null)(?![^ \t\n;|])/y;
const JOINT = /&&|\|\||[;|\n]/y;
/** First words that make more of a line than a command and its words. */
const RESERVED: ReadonlySet<string> = new Set(
  `if then else elif fi case esac for select while until do done in function time coproc export declare typeset readonly
  local unset`.split(/\s+/),
);

/**
 * The words of a text that is one command and nothing else: plain words, or whole words in quotes. Undefined as soon
 * as a shell could see anything more in it, such as `X=1` before the command.
 */
export function parsePlainCommand(text: string): readonly string[] | undefined {
  const [only, ...others] = splitPlainCommands(text) ?? [];
  const isAlone = others.length === 0 && only?.joint === "" && !/^[ \t]*\n/.test(text);
  return isAlone ? only.words : undefined;
}

export interface PlainCommand {
  readonly words: readonly string[];
  /** The operator that joins it to the next one; a line break counts as `;`. */
  readonly joint: "&&" | "||" | ";" | "|" | "";
}

/**
 * The plain commands of a line, joined by `&&`, `||`, `;`, `|` or line breaks; undefined when it holds anything else.
 * Each character is looked at a few times at most: a model writes the text.
 */
export function splitPlainCommands(text: string): readonly PlainCommand[] | undefined {
  const { take, isAtEnd } = createScanner(text);
  const commands: PlainCommand[] = [];
  take(SPACE);
  for (;;) {
    const program = take(PROGRAM);
    if (program === undefined || RESERVED.has(program)) return undefined;
    const words = [program];
    while (take(BLANK) !== undefined) {
      if (take(HARMLESS) !== undefined) continue;
      const word = take(WORD);
      if (word !== undefined) words.push(word.replaceAll(/^['"]|['"]$/g, ""));
    }
    if (isAtEnd()) return [...commands, { words, joint: "" }];
    const joint = take(JOINT);
    if (!isJoint(joint)) return undefined;
    commands.push({ words, joint: joint === "\n" ? ";" : joint });
    take(SPACE);
    if (isAtEnd()) return joint === ";" || joint === "\n" ? commands : undefined;
  }
}

const isJoint = (token: string | undefined): token is "&&" | "||" | ";" | "|" | "\n" => token !== undefined;

/** Consumes the match of a sticky pattern at the current position. */
function createScanner(text: string) {
  let at = 0;
  const match = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = at;
    const found = pattern.exec(text);
    at += found?.[0].length ?? 0;
    return found;
  };
  return {
    isAtEnd: () => at === text.length,
    match,
    take: (pattern: RegExp): string | undefined => match(pattern)?.[0],
  };
}

const BLANKS = /(?:[ \t]|\\\n)+/y;
const SEPARATORS = /[;&|()\n\r]+/y;
const REDIRECTION = /\d*(?:&>>?|>>|>\||[<>]&|<>|[<>])/y;
const PIECE =
  /'(?<single>[^']*)'|"(?<double>(?:[^"\\$`]|\\[\s\S])*)"|\\(?<escaped>[\s\S])|(?<sign>[*?[\]])|(?<run>[^ \t\n\r'"\\$`;&|()<>{}*?[\]]+)/y;

/**
 * The words of every simple command in a text for a shell, the targets of redirections among them. Undefined when only
 * a shell could determine them: substitutions, variables, braces, here-documents, quotes without an end.
 */
export function parseShell(text: string): readonly (readonly ShellWord[])[] | undefined {
  const commands: ShellWord[][] = [[]];
  const { match, isAtEnd } = createScanner(text);
  while (!isAtEnd()) {
    if (match(BLANKS)) continue;
    if (match(REDIRECTION)) {
      if (match(/</y)) return undefined;
      continue;
    }
    if (match(SEPARATORS)) {
      commands.push([]);
      continue;
    }
    const word = takeWord(match);
    if (!word) return undefined;
    commands.at(-1)?.push(word);
  }
  return commands.filter((words) => words.length > 0);
}

function takeWord(take: (pattern: RegExp) => RegExpExecArray | null): ShellWord | undefined {
  let word: { text: string; glob: boolean } | undefined;
  for (let piece = take(PIECE); piece; piece = take(PIECE)) {
    const { single, double, escaped, sign, run } = piece.groups ?? {};
    const plain =
      single ?? run ?? double?.replaceAll(/\\([$`"\\])|\\\n/g, "$1") ?? escaped?.replace("\n", "");
    word = {
      text: (word?.text ?? "") + (sign ?? plain),
      glob: (word?.glob ?? false) || sign !== undefined,
    };
  }
  return word;
}

/** White space that some shells take for a blank in some locales. */
const ODD_SPACE = /[^\S \t\n]/;

/** A file that is the input, and neither a here-document nor one that is opened for writing. */
const INPUT = /<(?![<>&(])[ \t]*/y;

interface LineCommand {
  readonly words: readonly ShellWord[];
  /** The files of redirections such as `< a.ts`. */
  readonly inputs: readonly ShellWord[];
  readonly joint: PlainCommand["joint"];
}

/**
 * The commands of a line with everything that a shell would make of their words: quotes, escapes and globs. Undefined
 * when it holds anything else: substitutions, variables, assignments, braces, tildes, comments, blocks, redirections to
 * files, background commands.
 */
export function parseLine(text: string): readonly LineCommand[] | undefined {
  if (ODD_SPACE.test(text)) return undefined;
  const { match, isAtEnd } = createScanner(text);
  const commands: LineCommand[] = [];
  match(SPACE);
  for (;;) {
    const words: ShellWord[] = [];
    const inputs: ShellWord[] = [];
    do {
      if (match(HARMLESS)) continue;
      const list = match(INPUT) ? inputs : words;
      if (match(UNQUOTED_SIGN)) return undefined;
      const word = takeWord(match);
      if (word) list.push(word);
      else if (list === inputs) return undefined;
    } while (match(BLANKS));
    const [program] = words;
    if (!program || program.text.includes("=") || RESERVED.has(program.text)) return undefined;
    if (isAtEnd()) return [...commands, { words, inputs, joint: "" }];
    const joint = match(JOINT)?.[0];
    if (!isJoint(joint)) return undefined;
    commands.push({ words, inputs, joint: joint === "\n" ? ";" : joint });
    match(SPACE);
    if (isAtEnd()) return joint === ";" || joint === "\n" ? commands : undefined;
  }
}

/** A tilde or a comment at the start of a word. */
const UNQUOTED_SIGN = /[~#]|[^ \t\n'"\\;|&]*[=:]~/y;
