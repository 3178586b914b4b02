/** A word as the shell hands it on; in a glob `*`, `?`, `[` and `]` are still signs. */
export interface ShellWord {
  readonly text: string;
  readonly glob: boolean;
}

const WORD = String.raw`(?:[\w@%+=:,./-]+|'[^'\r\n\0]*'|"[^"$\`\\!\r\n\0]*")`;
/** First words that make more of a line than a command and its words. */
const RESERVED =
  "if|then|else|elif|fi|case|esac|for|select|while|until|do|done|in|function|time|coproc|export|declare|typeset|readonly|local|unset";
/** Redirections that write to no file. */
const HARMLESS = String.raw`(?:[12]?>&[12]|[12]?>[ \t]?/dev/null)(?![^ \t\n;|])`;
const PLAIN = String.raw`(?!(?:${RESERVED})(?![^ \t\n;|]))[\w+:,./-]+(?=[ \t\n;|&]|$)(?:[ \t]+(?:${HARMLESS}|${WORD}(?![^ \t\n;|&])))*`;
const PLAIN_COMMAND = new RegExp(String.raw`^[ \t]*${PLAIN}[ \t]*$`);
const JOINT = String.raw`[ \t]*(?:&&|\|\||[;|\n])[ \t\n]*`;
const PLAIN_LINE = new RegExp(String.raw`^[ \t\n]*${PLAIN}(?:${JOINT}${PLAIN})*[ \t]*[;\n]?[ \t\n]*$`);
const TOKEN = new RegExp(
  String.raw`(?<=[ \t])${HARMLESS}|'[^']*'|"[^"]*"|&&|\|\||[;|\n]|[^ \t\n;|&'"]+`,
  "g",
);

/**
 * The words of a text that is one command and nothing else: plain words, or whole words in quotes. Undefined as soon
 * as a shell could see anything more in it, such as `X=1` before the command.
 */
export const parsePlainCommand = (text: string): readonly string[] | undefined =>
  PLAIN_COMMAND.test(text) ? wordsOf(text.match(TOKEN) ?? []) : undefined;

export interface PlainCommand {
  readonly text: string;
  /** What joins it to the next one; a line break counts as `;`. */
  readonly joint: "&&" | "||" | ";" | "|" | "";
}

/** The plain commands of a line, joined by `&&`, `||`, `;`, `|` or line breaks; undefined when it holds anything else. */
export function splitPlainCommands(text: string): readonly PlainCommand[] | undefined {
  if (!PLAIN_LINE.test(text)) return undefined;
  const commands: PlainCommand[] = [];
  let from = 0;
  for (const { 0: token, index } of text.matchAll(TOKEN)) {
    if (!isJoint(token)) continue;
    const part = text.slice(from, index).trim();
    if (part !== "") commands.push({ text: part, joint: token === "\n" ? ";" : token });
    from = index + token.length;
  }
  const last = text.slice(from).trim();
  return last === "" ? commands : [...commands, { text: last, joint: "" }];
}

const isJoint = (token: string): token is "&&" | "||" | ";" | "|" | "\n" =>
  /^(?:&&|\|\||[;|\n])$/.test(token);

const wordsOf = (tokens: readonly string[]): readonly string[] =>
  tokens.filter((one) => !IS_HARMLESS.test(one)).map((word) => word.replaceAll(/^['"]|['"]$/g, ""));
const IS_HARMLESS = new RegExp(`^${HARMLESS}$`);

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
  let at = 0;
  const take = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = at;
    const found = pattern.exec(text);
    if (found) at += found[0].length;
    return found;
  };
  while (at < text.length) {
    if (take(BLANKS)) continue;
    if (take(REDIRECTION)) {
      if (text[at] === "<") return undefined;
      continue;
    }
    if (take(SEPARATORS)) {
      commands.push([]);
      continue;
    }
    const word = takeWord(take);
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
