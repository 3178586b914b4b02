/** What a metavariable stands for: one node, or any number of them in a row. */
export interface Metavariable {
  readonly matches: "one" | "many";
  /** null when it is not captured: `$_`, `$$$`. */
  readonly name: string | null;
}

/**
 * Grammars know no metavariables, but all know identifiers: `$X` is written as a name that nobody uses. Where that is
 * not enough, it is written as other things that may stand in its place.
 */
export interface Spelling {
  readonly start: "octant" | "Octant";
  /** JSON knows no names, only strings. */
  readonly isQuoted?: true;
  /** A statement of its own has a semicolon behind it. */
  readonly hasStatements?: true;
  /** A parameter has a type before it. */
  readonly hasTypedParameters?: true;
}

export const SPELLINGS: readonly Spelling[] = [
  { start: "octant" },
  { start: "Octant" },
  { start: "octant", hasStatements: true },
  { start: "octant", hasStatements: true, hasTypedParameters: true },
];
export const QUOTED: Spelling = { start: "octant", isQuoted: true };

/** `$NAME` and `$$$NAME` in capitals; `$_GET` and `$user` are variables of their language. */
const METAVARIABLE = /(?<![\w$])(\$\$\$([A-Z][A-Z0-9_]*|_)?|\$([A-Z][A-Z0-9_]*|_))(?![\w$])/g;

export const hasMetavariable = (pattern: string): boolean => pattern.search(METAVARIABLE) >= 0;

export const withPlaceholders = (pattern: string, spelling: Spelling): string =>
  pattern.replace(METAVARIABLE, (all: string, _whole, manyName, oneName, at: number) => {
    const isMany = all.startsWith("$$$");
    const name = `${spelling.start}${isMany ? "Many" : "One"}0${(isMany ? manyName : oneName) ?? "_"}`;
    const [before, behind] = [pattern.slice(0, at).trimEnd(), pattern.slice(at + all.length).trimStart()];
    if (spelling.isQuoted) return `"${name}"`;
    if (spelling.hasStatements && /[{};]$/.test(before) && /^[^;.([]/.test(behind)) return `${name};`;
    if (spelling.hasTypedParameters && isMany && /[(,]$/.test(before) && /^[),]/.test(behind))
      return `${name} ${name}`;
    return name;
  });

const PLACEHOLDER = /^"?[oO]ctant(One|Many)0([A-Z0-9_]+)"?(?: \w+)?;?$/;

/** The metavariable that a piece of the written pattern is, if it is nothing but that. */
export function metavariableIn(text: string): Metavariable | undefined {
  const [, kind, name] = PLACEHOLDER.exec(text.trim()) ?? [];
  if (!kind || !name) return undefined;
  return { matches: kind === "One" ? "one" : "many", name: name === "_" ? null : name };
}

/** The words that a text must hold for the pattern to be found in it. */
export const literalWords = (pattern: string): string[] => [
  ...new Set(pattern.replace(METAVARIABLE, " ").match(/[\p{L}_][\p{L}\p{N}_]*/gu) ?? []),
];
