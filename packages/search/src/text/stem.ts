const SUFFIXES = [
  ...["ations", "ation", "ing", "edly", "ed", "ers", "er", "ors", "or"],
  ...["ions", "ion", "ment", "able", "ible", "ly"],
] as const;
const MIN_STEM_CHARS = 4;

/**
 * The stem of a lower-case word. The word table was trained on these stems, so the rules are part of its format:
 * plural, then at most one suffix, then a final e, then a doubled last letter.
 */
export function stemOf(word: string): string {
  let stem = singular(word);
  const suffix = SUFFIXES.find((each) => stem.length - each.length >= MIN_STEM_CHARS && stem.endsWith(each));
  if (suffix) stem = stem.slice(0, -suffix.length);
  if (stem.length > MIN_STEM_CHARS && stem.endsWith("e")) stem = stem.slice(0, -1);
  const last = stem.at(-1) ?? "";
  const isDoubled = stem.length > MIN_STEM_CHARS && stem.at(-2) === last && last !== "l" && last !== "s";
  return isDoubled ? stem.slice(0, -1) : stem;
}

function singular(word: string): string {
  const { length } = word;
  if (length > 4 && word.endsWith("ies")) return `${word.slice(0, -3)}y`;
  if (length > 4 && word.endsWith("sses")) return word.slice(0, -2);
  if (length > 3 && word.endsWith("es") && "xzh".includes(word.at(-3) ?? " ")) return word.slice(0, -2);
  if (length > 3 && word.endsWith("s") && !"su".includes(word.at(-2) ?? " ")) return word.slice(0, -1);
  return word;
}
