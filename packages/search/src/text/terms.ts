import { stemOf } from "./stem.ts";

/** Splits text and code into normalised words: identifiers split, lower case, stemmed. */
export type TermCutter = (text: string) => string[];

/** The words of camel-case identifiers: `parseHTTPHeader` is parse, HTTP, Header. */
const WORDS = /\p{L}(?:(?!(?<=\p{Ll})\p{Lu}|(?<=\p{Lu})\p{Lu}\p{Ll})\p{L})*|\p{N}+/gu;
const MIN_TERM_CHARS = 2;
const MAX_TERM_CHARS = 40;
const MAX_REMEMBERED = 100_000;

export function createTermCutter(): TermCutter {
  const stems = new Map<string, string>();
  const toTerm = (word: string): string => {
    const known = stems.get(word);
    if (known !== undefined) return known;
    const stem = stemOf(word.toLowerCase());
    if (stems.size < MAX_REMEMBERED) stems.set(word, stem);
    return stem;
  };
  return (text) => {
    const words: readonly string[] = text.match(WORDS) ?? [];
    return words.filter(({ length }) => length >= MIN_TERM_CHARS && length <= MAX_TERM_CHARS).map(toTerm);
  };
}
