/**
 * Makes terminal control characters visible: escape sequences, a lone carriage return, bidirectional and
 * invisible marks. New lines and tabs stay.
 */
export const toVisible = (text: string): string => text.replace(OBEYED, toEscape);

/** For where a new line would break the layout too. */
export const toOneLine = (text: string): string => toVisible(text).replace(/[\r\n\t]/g, toEscape);

const OBEYED =
  /\r(?!\n)|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\p{Cs}]|[\u{e0000}-\u{e007f}]/gu;

const NAMED: Readonly<Record<string, string>> = { "\r": "\\r", "\n": "\\n", "\t": "\\t" };

function toEscape(char: string): string {
  const code = (char.codePointAt(0) ?? 0).toString(16);
  return NAMED[char] ?? (code.length <= 2 ? `\\x${code.padStart(2, "0")}` : `\\u{${code}}`);
}
