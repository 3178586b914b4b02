/**
 * Invisible characters: zero-width, direction marks, tags, unusual selectors, controls. They can hide text from the
 * reader or reorder it. White space and emoji selectors stay.
 */
const INVISIBLE = /(?!\ufe0f|[\t\n\f\r])[\p{Default_Ignorable_Code_Point}\p{Cc}]/gu;

export const withoutInvisible = (text: string): string => text.replace(INVISIBLE, "").toWellFormed();

/** Collapses white space, as a browser does. */
export const collapseSpace = (text: string): string => text.replace(/[\t\n\f\r ]+/g, " ");

/** Escapes text for Markdown. Line starts are handled later, when lines are known: `escapeLineStart`. */
export const escapeText = (text: string): string =>
  text
    .replace(/[\\`*[\]]/g, "\\$&")
    // Inside a word an underscore is plain.
    .replace(/(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])/gu, "\\_")
    .replace(/<(?! )/g, "\\<")
    .replace(/~(?=~|$)|(?<=^|~)~/g, "\\~")
    .replace(/&(?=#?\w{1,32};)/g, "\\&");

/** Escapes a line that would start a heading, list, quote, rule, fence or table. */
export const escapeLineStart = (line: string): string =>
  line
    .replace(/^(#{1,6}(?=\s|$)|[-+](?=[\s-]|$)|[>=|~]|:(?=-))/, "\\$1")
    .replace(/^(\d{1,9})([.)])(?=\s|$)/, "$1\\$2");

/** A code span with as many backticks as necessary. */
export function toCodeSpan(code: string): string {
  const fence = "`".repeat(longestRun(code) + 1);
  const pad = /^`|`$|^ .* $/.test(code) ? " " : "";
  return `${fence}${pad}${code}${pad}${fence}`;
}

/** At least three. */
export const fenceFor = (code: string): string => "`".repeat(Math.max(3, longestRun(code) + 1));

function longestRun(code: string): number {
  let longest = 0;
  for (const [run] of code.matchAll(/`+/g)) longest = Math.max(longest, run.length);
  return longest;
}
