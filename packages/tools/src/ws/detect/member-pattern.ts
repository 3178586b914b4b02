/**
 * Tests which folders are members of a workspace. Patterns follow npm, pnpm, Cargo and uv: `*` and `?` within a name,
 * `**` for any folders, `{a,b}` for alternatives, `!` to exclude. They are untrusted, so their number is capped and a
 * match takes at most path length × pattern length steps.
 */
export function toMemberTest(patterns: readonly string[]): (path: string) => boolean {
  const compile = (chosen: readonly string[]) =>
    chosen
      .slice(0, MAX_PATTERNS)
      .flatMap((pattern) => expandBraces(normalise(pattern)))
      .slice(0, MAX_PATTERNS)
      .map((pattern) => pattern.split("/"));
  const included = compile(patterns.filter((pattern) => !pattern.startsWith("!")));
  const excluded = compile(patterns.filter((pattern) => pattern.startsWith("!")).map((one) => one.slice(1)));
  return (path) => {
    const folders = path.split("/");
    const matches = (pattern: readonly string[]) => matchesParts(folders, pattern, matchesName, "**");
    return included.some(matches) && !excluded.some(matches);
  };
}

const MAX_PATTERNS = 200;

const normalise = (pattern: string): string => pattern.replace(/^\.\//, "").replace(/\/$/, "");

function expandBraces(pattern: string): string[] {
  const done: string[] = [];
  const open = [pattern];
  for (let next = open.pop(); next !== undefined && done.length < MAX_PATTERNS; next = open.pop()) {
    const [, before, choices, after] = /^([^{}]*)\{([^{}]*)\}(.*)$/s.exec(next) ?? [];
    if (choices === undefined) done.push(next);
    else open.push(...choices.split(",").map((choice) => before + choice + after));
  }
  return done;
}

const matchesName = (name: string, pattern: string): boolean =>
  matchesParts([...name], [...pattern], (char, part) => part === "?" || part === char, "*");

/** Backtracks only to the last wildcard, which is sufficient and cannot explode. */
function matchesParts(
  parts: readonly string[],
  pattern: readonly string[],
  isSame: (part: string, pattern: string) => boolean,
  wildcard: string,
): boolean {
  let at = 0;
  let part = 0;
  let retry: { at: number; part: number } | undefined;
  while (part < parts.length) {
    if (pattern[at] === wildcard) {
      at++;
      retry = { at, part };
    } else if (at < pattern.length && isSame(parts[part] as string, pattern[at] as string)) {
      at++;
      part++;
    } else if (retry) {
      retry.part++;
      at = retry.at;
      part = retry.part;
    } else {
      return false;
    }
  }
  return pattern.slice(at).every((rest) => rest === wildcard);
}
