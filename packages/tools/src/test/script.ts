/** A script of package.json that is one command, without operators, substitutions or redirections. */
export interface PlainScript {
  /** `NAME=value` before the program. */
  readonly env: Readonly<Record<string, string>>;
  /** Unquoted; globs are as written. */
  readonly words: readonly [program: string, ...args: string[]];
  /** The same, for a shell. */
  readonly text: string;
}

const WORD = /(?:[^\s'"\\$`|&;<>()#~]|'[^']*'|"[^"$`\\]*")+/y;

/** undefined for any other script: its words would have to be guessed. */
export function parseScript(text: string): PlainScript | undefined {
  const words: string[] = [];
  for (let at = 0; at < text.length; at = WORD.lastIndex) {
    WORD.lastIndex = at + (/^\s*/.exec(text.slice(at))?.[0].length ?? 0);
    if (WORD.lastIndex === text.length) break;
    const [word] = WORD.exec(text) ?? [];
    if (word === undefined) return undefined;
    words.push(word.replaceAll(/'([^']*)'|"([^"]*)"/g, (_, single, double) => single ?? double));
  }
  const assigned = words.findIndex((word) => !/^\w+=/.test(word));
  const [program, ...args] = words.slice(Math.max(0, assigned));
  if (program === undefined || assigned < 0) return undefined;
  const env = Object.fromEntries(
    words.slice(0, assigned).map((word) => {
      const at = word.indexOf("=");
      return [word.slice(0, at), word.slice(at + 1)];
    }),
  );
  return { env, words: [program, ...args], text };
}

/** Options of Node's runners that take no value: a word after one of them is a file. */
const SWITCHES = new Set(
  (
    "all bail check-leaks ci colors coverage debug detectOpenHandles exit expand fail-fast forbid-only " +
    "forbid-pending forceExit full-trace fully-parallel globals headed inline-diffs onlyChanged parallel " +
    "pass-with-no-tests passWithNoTests quiet recursive run runInBand serial silent sort tap test test-only typecheck " +
    "ui verbose watch watchAll"
  ).split(" "),
);

/** The arguments without the files, folders and globs that they name. */
export function withoutFiles(args: readonly string[], isFile: (word: string) => boolean): string[] {
  return args.filter((word, at) => word.startsWith("-") || takesValue(args[at - 1]) || !isFile(word));
}

const takesValue = (option = ""): boolean =>
  /^--?[A-Za-z]/.test(option) &&
  !option.includes("=") &&
  !option.startsWith("--no-") &&
  !SWITCHES.has(option.replace(/^-+/, ""));
