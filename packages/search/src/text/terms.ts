import { stemOf } from "./stem.ts";

/** Splits text and code into normalised words: identifiers split, lower case, stemmed. */
export type TermCutter = (text: string) => string[];

/** Non-ASCII text is rare enough to be split by regular expressions. */
const FOREIGN = /[^\0-\x7f]/;
const WORDS = /\p{L}+|\p{N}+/gu;
/** Where a camel-case identifier is split: `parseHTTPHeader` is parse, HTTP, Header. */
const HUMPS = /(?<=\p{Ll})(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})/u;
const MIN_TERM_CHARS = 2;
const MAX_TERM_CHARS = 40;
const MAX_REMEMBERED = 100_000;

export function createTermCutter(): TermCutter {
  const stems = new Map<string, string>();
  const toTerm = (part: string): string => {
    const known = stems.get(part);
    if (known !== undefined) return known;
    const stem = stemOf(part.toLowerCase());
    if (stems.size < MAX_REMEMBERED) stems.set(part, stem);
    return stem;
  };
  const addTerm = (terms: string[], text: string, from: number, to: number) => {
    if (to - from >= MIN_TERM_CHARS && to - from <= MAX_TERM_CHARS) terms.push(toTerm(text.slice(from, to)));
  };

  return (text) => {
    const terms: string[] = [];
    if (FOREIGN.test(text)) {
      for (const { 0: run, index } of text.matchAll(WORDS)) {
        let from = index;
        for (const part of run.split(HUMPS)) {
          addTerm(terms, text, from, from + part.length);
          from += part.length;
        }
      }
      return terms;
    }
    let from = 0;
    let before: Sign = OTHER;
    for (let at = 0; at < text.length; at++) {
      const sign = SIGNS[text.charCodeAt(at)] ?? OTHER;
      if (sign === before && sign !== UPPER) continue;
      if (before === UPPER && sign === UPPER) {
        // The last of several capitals belongs to the next word.
        if (SIGNS[text.charCodeAt(at + 1)] !== LOWER) continue;
        addTerm(terms, text, from, at);
        from = at;
      } else if (!(before === UPPER && sign === LOWER)) {
        if (before !== OTHER) addTerm(terms, text, from, at);
        from = at;
      }
      before = sign;
    }
    if (before !== OTHER) addTerm(terms, text, from, text.length);
    return terms;
  };
}

const OTHER = 0;
const LOWER = 1;
const UPPER = 2;
const DIGIT = 3;
type Sign = number;

const SIGNS = Uint8Array.from({ length: 128 }, (_, code) => {
  const sign = String.fromCharCode(code);
  if (/[a-z]/.test(sign)) return LOWER;
  if (/[A-Z]/.test(sign)) return UPPER;
  return /[0-9]/.test(sign) ? DIGIT : OTHER;
});
