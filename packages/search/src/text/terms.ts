import { stemmer } from "stemmer";

/** Runs of letters or of digits; an identifier's underscores and other signs fall away. */
const WORDS = /\p{L}+|\p{N}+/gu;
/** Where an identifier in camel case is cut: `parseHTTPHeader` is parse, HTTP, Header. */
const HUMPS = /(?<=\p{Ll})(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})/u;
const MAX_TERM_CHARS = 40;

/** Cuts text and code into the words that are compared: identifiers split, lower case, stemmed. */
export function createTermCutter(): (text: string) => string[] {
  const stems = new Map<string, string>();
  const stemOf = (word: string): string => {
    const known = stems.get(word);
    if (known !== undefined) return known;
    const stem = stemmer(word);
    if (stems.size < MAX_STEMS) stems.set(word, stem);
    return stem;
  };
  return (text) => {
    const terms: string[] = [];
    for (const [run] of text.matchAll(WORDS)) {
      for (const part of run.split(HUMPS)) {
        if (part.length > 1 && part.length <= MAX_TERM_CHARS) terms.push(stemOf(part.toLowerCase()));
      }
    }
    return terms;
  };
}

const MAX_STEMS = 100_000;
