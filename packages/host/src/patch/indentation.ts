/** Indentations in a patch, and the corresponding ones in the file. */
export type Indents = Map<string, string>;

const indentOf = (line: string): string => /^[ \t]*/.exec(line)![0];

/** Pairs the indentations of lines of the patch and the file; of equal ones in the patch the first counts. */
export function pairIndents(pairs: readonly (readonly [patch: string, file: string])[]): Indents {
  const indents: Indents = new Map();
  for (const [patch, file] of pairs.toReversed()) noteIndent(indents, patch, file);
  return indents;
}

/** Maps the indentation `patch` to `file` from here on. */
export function noteIndent(indents: Indents, patch: string, file: string): void {
  if (/[^ \t]/.test(patch)) indents.set(indentOf(patch), indentOf(file));
}

/** A line of the patch with the file's indentation. */
export function reindent(line: string, indents: Indents): string {
  const indent = indentOf(line);
  const mapped = indents.get(indent) ?? deepen(indent, indents) ?? flatten(indent, indents) ?? indent;
  return line === "" ? "" : mapped + line.slice(indent.length);
}

/** For a line deeper than a known one: that one's indentation, and the rest converted to the file's style. */
function deepen(indent: string, indents: Indents): string | undefined {
  const base = byLength(indents, (known) => indent.startsWith(known)).at(-1);
  return base === undefined ? undefined : indents.get(base)! + convert(indent.slice(base.length), indents);
}

/** For a line shallower than all known ones: the shallowest one's indentation, minus the difference. */
function flatten(indent: string, indents: Indents): string | undefined {
  const [base] = byLength(indents, (known) => known.startsWith(indent));
  if (base === undefined) return undefined;
  const file = indents.get(base)!;
  return file.slice(0, Math.max(0, file.length - convert(base.slice(indent.length), indents).length));
}

function convert(indent: string, indents: Indents): string {
  const pairs = [...indents];
  const fileChar = pairs.map(([, file]) => file[0]).find((char) => char !== undefined) ?? indent[0]!;
  const factor = scale(pairs, indent[0]!, fileChar);
  const whole = Math.floor(indent.length * factor);
  return fileChar.repeat(whole) + indent.slice(Math.round(whole / factor));
}

const SPACES_PER_TAB = 4;

/** The number of indentation characters in the file per character in the patch. */
function scale(pairs: readonly (readonly [string, string])[], patchChar: string, fileChar: string): number {
  const shallow = pairs.reduce((a, b) => (b[0].length < a[0].length ? b : a));
  const deep = pairs.reduce((a, b) => (b[0].length > a[0].length ? b : a));
  const steps = deep[0].length - shallow[0].length;
  const growth = deep[1].length - shallow[1].length;
  if (steps > 0 && growth > 0) return growth / steps;
  if (patchChar === fileChar) return 1;
  if (deep[0].length > 0 && deep[1].length > 0) return deep[1].length / deep[0].length;
  return fileChar === "\t" ? 1 / SPACES_PER_TAB : SPACES_PER_TAB;
}

/** The known indentations of the patch that are accepted, the shortest first. */
const byLength = (indents: Indents, accepts: (known: string) => boolean): string[] =>
  [...indents.keys()].filter(accepts).sort((a, b) => a.length - b.length);
