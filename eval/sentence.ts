// The question in a doc comment: its first sentence, without the name of the documented symbol.

const MIN_WORDS = 4;
const MAX_WORDS = 30;
/** Sentences that say nothing about the function's purpose. */
const EMPTY_TALK =
  /^(?:deprecated|todo|fixme|see\b|note\b|example|internal|https?:|copyright|same as|like\b|equivalent|inherit|warning|implements? |nodoc|helper$|overrid)/i;
const MIN_PLAIN_SHARE = 0.75;

/** undefined when the comment has no sentence that a person could ask. */
export function questionFrom(doc: string, name: string): string | undefined {
  if (/inheritDoc|@deprecated/.test(doc)) return undefined;
  const sentence = withoutName(firstSentence(withoutMarkup(doc)), name);
  const words = sentence.split(" ");
  if (words.length < MIN_WORDS || words.length > MAX_WORDS || EMPTY_TALK.test(sentence)) return undefined;
  if (/[^\x20-\x7e]/.test(sentence)) return undefined;
  const isCompound = /[a-z0-9][A-Z]|_/.test(name);
  if (isCompound && sentence.includes(name)) return undefined;
  const isSpoken = (sentence.match(/[a-zA-Z]{3,}/g) ?? []).length >= MIN_WORDS;
  const plain = (sentence.match(/[a-z ]/g) ?? []).length;
  return isSpoken && plain >= MIN_PLAIN_SHARE * sentence.length ? sentence : undefined;
}

const withoutMarkup = (doc: string) =>
  doc
    .replace(/\{@(?:code|literal|link|linkplain|value)\s+([^}]*)\}/g, (_, inner) =>
      inner.replaceAll("#", " "),
    )
    .replace(/<\/?[a-zA-Z][^>]*>/g, " ")
    .replace(/\[`?([^\]`]+)`?\](?:\([^)]*\)|\[[^\]]*\])?/g, "$1")
    .replace(/:[a-z:]+:`~?\.?([^`]+)`/g, "$1")
    .replace(/`+/g, "")
    .replace(/&lt;/g, "<")
    .replace(/&gt;/g, ">")
    .replace(/&amp;/g, "&")
    .trim();

function firstSentence(text: string): string {
  const [paragraph = ""] = text.split(/\n\s*\n|\n\s*(?:@|:param|:return|Args:|Parameters\n|Returns\n|#\s)/);
  const line = paragraph.replace(/\s+/g, " ").trim();
  if (/^[@:]/.test(line)) return "";
  const ended = /^(.+?[.!?])(?:\s+[A-Z(]|$)/.exec(line)?.[1];
  const sentence = ended && !/(?:e\.g|i\.e|etc|vs)\.$/.test(ended) ? ended : line;
  return sentence.replace(/[.\s]+$/, "");
}

/** Comments in Go start with the name of the documented symbol. */
function withoutName(sentence: string, name: string): string {
  const [first = "", second, ...rest] = sentence.split(" ");
  const own = first
    .replace(/[(),:]+$/, "")
    .split(".")
    .at(-1);
  if (own !== name) return sentence;
  return (second === "is" || second === "-" ? rest : [second, ...rest]).join(" ");
}
