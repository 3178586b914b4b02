/** A word as the shell hands it on; in a glob `*`, `?`, `[` and `]` are still signs. */
export interface ShellWord {
  readonly text: string;
  readonly glob: boolean;
}

const WORD = String.raw`(?:[\w@%+=:,./-]+|'[^'\r\n\0]*'|"[^"$\`\\!\r\n\0]*")`;
const PLAIN_COMMAND = new RegExp(String.raw`^[ \t]*${WORD}(?:[ \t]+${WORD})*[ \t]*$`);
const PROGRAM = /^[ \t]*[\w@%+:,./-]+(?:[ \t]|$)/;

/**
 * The words of a text that is one command and nothing else: plain words, or whole words in quotes. Undefined as soon
 * as a shell could see anything more in it, such as `X=1` before the command.
 */
export function parsePlainCommand(text: string): readonly string[] | undefined {
  if (!PLAIN_COMMAND.test(text) || !PROGRAM.test(text)) return undefined;
  return text.match(/'[^']*'|"[^"]*"|[^ \t'"]+/g)?.map((word) => word.replaceAll(/^['"]|['"]$/g, ""));
}

const CHAIN = /\s*(?:&&|\|\||;|\||\n)\s*/;

/** The plain commands of a line, joined by `&&`, `||`, `;`, `|` or line breaks; undefined when it holds anything else. */
export function splitPlainCommands(text: string): readonly string[] | undefined {
  // A quote could hide one of the signs, so lines with both are left whole.
  if (!CHAIN.test(text) || /['"]/.test(text)) return undefined;
  const parts = text
    .trim()
    .split(CHAIN)
    .filter((part) => part !== "");
  return parts.length > 1 && parts.every((part) => parsePlainCommand(part) !== undefined) ? parts : undefined;
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
