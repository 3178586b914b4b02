/**
 * The only place that decides how untrusted text may affect a terminal. Characters that a terminal obeys,
 * hides or reorders (escape sequences, a lone carriage return, bidirectional and invisible marks) are shown as their
 * codes.
 */

/** For text in general: new lines, tabs and the joiners that emoji, Arabic or Indic words need stay. */
export const toVisible = (text: string): string => text.replace(TEXT, toShown);

/** Also escapes line breaks, for places where one would break the layout. */
export const toOneLine = (text: string): string => toVisible(text).replace(/[\r\n\t]/g, toEscape);

/** For text that a person approves, on one line: no character is invisible, and no other blank looks like a space. */
export const toExact = (text: string): string => text.replace(EXACT, toShown);

/** Valid JSON stays valid, with the same meaning. */
export const toVisibleJson = (json: string): string => json.replace(TEXT, toJsonEscape);

const EMOJI_JOINER = String.raw`(?<=\p{ExtPict}[\ufe0f\p{EMod}]?)\u200d(?=\p{ExtPict})`;
const EMOJI_VARIANT = String.raw`(?<=[\p{Emoji}--\p{ASCII}])[\ufe0e\ufe0f]|\ufe0f(?=\u20e3)`;
/** Persian and Hindi, for example, are misspelt without them. */
const JOINED = String.raw`[[\p{L}\p{M}]--[\p{scx=Latn}\p{scx=Grek}\p{scx=Cyrl}\p{DI}]]`;
const WORD_JOINER = String.raw`(?<=${JOINED})[\u200c\u200d](?=${JOINED})`;
const UNSEEN = String.raw`[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{DI}]`;
const MISTAKEN = String.raw`[[\p{Z}\p{Co}\u2800]--[ ]]`;

const TEXT = new RegExp(
  String.raw`(?<fine>[\n\t]|\r(?=\n)|${EMOJI_JOINER}|${EMOJI_VARIANT}|${WORD_JOINER})|${UNSEEN}`,
  "gv",
);
const EXACT = new RegExp(`(?<fine>${EMOJI_JOINER}|${EMOJI_VARIANT})|${UNSEEN}|${MISTAKEN}`, "gv");

const toShown = (char: string, fine?: string): string => fine ?? toEscape(char);

const NAMED: Readonly<Record<string, string>> = { "\r": "\\r", "\n": "\\n", "\t": "\\t" };

function toEscape(char: string): string {
  const code = (char.codePointAt(0) ?? 0).toString(16);
  return NAMED[char] ?? (code.length <= 2 ? `\\x${code.padStart(2, "0")}` : `\\u{${code}}`);
}

/** A character beyond 16 bits takes two escapes. */
const toJsonEscape = (char: string, fine?: string): string =>
  fine ??
  Array.from(
    { length: char.length },
    (_, i) => `\\u${char.charCodeAt(i).toString(16).padStart(4, "0")}`,
  ).join("");
