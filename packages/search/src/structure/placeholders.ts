/** A metavariable: one node, or any number of siblings. */
export interface Metavariable {
  readonly matches: "one" | "many";
  /** null when it is not captured: `$_`, `$$$`. */
  readonly name: string | null;
}

/**
 * Grammars do not know metavariables, but all know identifiers: `$X` is written as an identifier that does
 * not occur in real code. Where that does not parse, it is written as another construct.
 */
export interface Spelling {
  readonly start: "octant" | "Octant";
  /** JSON has strings but no identifiers. */
  readonly isQuoted?: true;
  /** A statement ends with a semicolon. */
  readonly hasStatements?: true;
  /** A parameter is preceded by its type. */
  readonly hasTypedParameters?: true;
}

export const SPELLINGS: readonly Spelling[] = [
  { start: "octant" },
  { start: "Octant" },
  { start: "octant", hasStatements: true },
  { start: "octant", hasStatements: true, hasTypedParameters: true },
];
export const QUOTED: Spelling = { start: "octant", isQuoted: true };

/** `$NAME` and `$$$NAME` in capitals; `$_GET` and `$user` are variables of their languages. */
const METAVARIABLE = /(?<![\w$])(\$\$\$([A-Z][A-Z0-9_]*|_)?|\$([A-Z][A-Z0-9_]*|_))(?![\w$])/g;

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

/** The metavariable that this piece of the pattern stands for, if it is exactly one. */
export function metavariableIn(text: string): Metavariable | undefined {
  const [, kind, name] = PLACEHOLDER.exec(text.trim()) ?? [];
  if (!kind || !name) return undefined;
  return { matches: kind === "One" ? "one" : "many", name: name === "_" ? null : name };
}

/** The words that a text must contain to match the pattern. */
export const literalWords = (pattern: string): string[] => [
  ...new Set(pattern.replace(METAVARIABLE, " ").match(/[\p{L}_][\p{L}\p{N}_]*/gu) ?? []),
];
