import type { TextPattern } from "../ripgrep.ts";

/** Alternatives, each a list of trigrams that a file must hold all of to match. Bytes of lower-case ASCII, 8 bits each. */
export type Needs = readonly (readonly number[])[];

const MIN_LITERAL = 3;

/**
 * The trigrams that a matching file must contain; undefined when the pattern does not determine them, or is not
 * understood.
 */
export function needsOf({ pattern, fixed, multiline }: TextPattern): Needs | undefined {
  // A line end in a fixed pattern separates patterns.
  if (multiline || /[\n\r]/.test(pattern)) return undefined;
  const alternatives = fixed ? usable([literalRuns(pattern)]) : literalsOf(pattern);
  return alternatives?.map((literals) => [...new Set(literals.flatMap(trigramsOf))]);
}

/** Alternatives, each a list of texts that all occur in a match. */
type Literals = string[][];

class NotUnderstood extends Error {}

/** The texts that every match of a regular expression contains; undefined for syntax that is not understood. */
function literalsOf(pattern: string): Literals | undefined {
  try {
    const reader = createReader(pattern);
    const literals = reader.alternation();
    if (!reader.atEnd()) throw new NotUnderstood();
    return literals;
  } catch (cause) {
    if (cause instanceof NotUnderstood) return undefined;
    throw cause;
  }
}

const GROUP = /\((?:\?:|\?P?<\w+>)?(?!\?)/y;
/** Without nested brackets, whose meaning depends on their position. */
const CLASS = /\[\^?\]?(?:[^\\[\]]|\\[\s\S])*\]/y;
const QUANTIFIERS = /(?:[*+?]|\{\d+(?:,\d*)?\})+/y;
const ESCAPED_SIGN = /\\([.+*?()|[\]{}^$#&~-])/y;
const BREAK = /\\[dDwWsSAztnrf]|\\[bB](?!\{)|[.^$]/y;
const PLAIN = /[^\\.+*?()|[\]{}^$]/uy;

function createReader(pattern: string) {
  let at = 0;
  const take = (form: RegExp): RegExpExecArray | undefined => {
    form.lastIndex = at;
    const found = form.exec(pattern) ?? undefined;
    if (found) at = form.lastIndex;
    return found;
  };
  const atEnd = () => at >= pattern.length;

  const alternation = (): Literals | undefined => {
    const alternatives = [concatenation()];
    while (take(/\|/y)) alternatives.push(concatenation());
    return alternatives.every((one) => one !== undefined) ? alternatives.flat() : undefined;
  };

  const concatenation = (): Literals | undefined => {
    const literals: string[] = [];
    const groups: Literals[] = [];
    let run = "";
    const endRun = () => {
      literals.push(run);
      run = "";
    };
    while (!atEnd() && pattern[at] !== "|" && pattern[at] !== ")") {
      const sign = take(ESCAPED_SIGN)?.[1] ?? take(PLAIN)?.[0];
      const group = sign === undefined && take(GROUP) ? groupAfter() : undefined;
      if (sign === undefined && group === undefined && !take(CLASS) && !take(BREAK))
        throw new NotUnderstood();
      const quantifier = take(QUANTIFIERS)?.[0];
      const mustOccur = quantifier === undefined || quantifier === "+";
      if (sign !== undefined && isAscii(sign) && mustOccur) run += sign;
      if (sign === undefined || !isAscii(sign) || quantifier !== undefined) endRun();
      if (group?.literals && mustOccur) groups.push(group.literals);
    }
    endRun();
    for (const group of groups) if (group.length === 1) literals.push(...(group[0] ?? []));
    return usable([literals]) ?? groups.find((group) => group.length > 1);
  };

  const groupAfter = () => {
    const literals = alternation();
    if (!take(/\)/y)) throw new NotUnderstood();
    return { literals };
  };

  return { alternation, atEnd };
}

function usable(alternatives: Literals): Literals | undefined {
  const long = alternatives.map((literals) => literals.filter((text) => text.length >= MIN_LITERAL));
  return long.every((literals) => literals.length > 0) ? long : undefined;
}

const isAscii = (text: string) => /^[\x01-\x7f]*$/.test(text);

const literalRuns = (text: string): string[] => text.split(/[^\x01-\x7f]+/);

function trigramsOf(literal: string): number[] {
  const bytes = Buffer.from(literal.toLowerCase(), "latin1");
  return Array.from({ length: bytes.length - 2 }, (_, at) => bytes.readUIntBE(at, 3));
}
