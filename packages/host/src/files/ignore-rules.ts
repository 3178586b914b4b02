import { type Glob, parseGlob } from "@octant/core";

/** One line of an ignore file. */
export interface Rule {
  readonly glob: Glob;
  /** `!`: matching entries are not ignored. */
  readonly negated: boolean;
  readonly onlyFolders: boolean;
}

/** The rules of one ignore file, and of those of the same name in the folders above. */
export interface RuleChain {
  readonly rules: readonly Rule[];
  /** How many names lead to the folder that the rules count from. */
  readonly depth: number;
  readonly outer: RuleChain | undefined;
}

/** The rules that apply inside a folder. Each kind of file outranks the next at any depth, as in ripgrep. */
export interface IgnoreRules {
  readonly rgignore: RuleChain | undefined;
  readonly ignore: RuleChain | undefined;
  readonly gitignore: RuleChain | undefined;
  readonly exclude: RuleChain | undefined;
  /** Git's files count only inside a repository. */
  readonly isInRepository: boolean;
  /** The user's own, for all repositories. */
  readonly global: RuleChain | undefined;
}

/** Whether the last of the names is to be left out. */
export function isIgnored(rules: IgnoreRules, names: readonly string[], isFolder: boolean): boolean {
  const verdict =
    decide(rules.rgignore, names, isFolder) ??
    decide(rules.ignore, names, isFolder) ??
    decide(rules.gitignore, names, isFolder) ??
    decide(rules.exclude, names, isFolder) ??
    (rules.isInRepository ? decide(rules.global, names, isFolder) : undefined);
  return verdict ?? false;
}

/** The innermost file that says anything decides, and in it the last line that does. */
function decide(
  chain: RuleChain | undefined,
  names: readonly string[],
  isFolder: boolean,
): boolean | undefined {
  for (let file = chain; file; file = file.outer) {
    for (let i = file.rules.length - 1; i >= 0; i--) {
      const rule = file.rules[i] as Rule;
      if ((isFolder || !rule.onlyFolders) && rule.glob.matches(names, file.depth)) return !rule.negated;
    }
  }
  return undefined;
}

/** The rules of an ignore file. An invalid glob is skipped, as in git and ripgrep. */
export function parseIgnoreFile(content: string): Rule[] {
  const lines = content.replace(BYTE_ORDER_MARK, "").split("\n");
  return lines.flatMap((line) => {
    const rule = parseRule(line);
    return rule === undefined || "error" in rule ? [] : [rule];
  });
}

/** In the bytes of UTF-8. */
const BYTE_ORDER_MARK = /^\xef\xbb\xbf/;

/** The rule of one line; undefined when it is empty or a comment. */
export function parseRule(line: string): Rule | { readonly error: string } | undefined {
  if (line.startsWith("#")) return undefined;
  let pattern = line.endsWith("\\ ") ? line : line.replace(/[ \t\r\n\v\f]+$/, "");
  if (pattern === "") return undefined;
  const negated = pattern.startsWith("!");
  if (negated) pattern = pattern.slice(1);
  const isAnchored = pattern.startsWith("/");
  if (isAnchored) pattern = pattern.slice(1);
  const onlyFolders = pattern.endsWith("/");
  if (onlyFolders) pattern = pattern.slice(0, -1);
  if (!isAnchored && !pattern.includes("/")) pattern = `**/${pattern}`;
  // `folder/**` matches everything inside the folder, not the folder itself.
  if (pattern.endsWith("/**")) pattern += "/*";
  const glob = parseGlob(pattern);
  return "error" in glob ? glob : { glob, negated, onlyFolders };
}
