/**
 * Characters that nobody sees: zero-width, direction marks, tags, odd selectors, controls. They carry text past the
 * reader, or turn what he reads round. White space stays, and what makes a sign an emoji.
 */
const INVISIBLE = /(?!\ufe0f|[\t\n\f\r])[\p{Default_Ignorable_Code_Point}\p{Cc}]/gu;

export const withoutInvisible = (text: string): string => text.replace(INVISIBLE, "").toWellFormed();

/** Runs of white space are one space, as a browser shows them. */
export const collapseSpace = (text: string): string => text.replace(/[\t\n\f\r ]+/g, " ");

/** Makes text mean itself in Markdown. Line starts are seen to when there are lines: `escapeLineStart`. */
export const escapeText = (text: string): string =>
  text
    .replace(/[\\`*[\]]/g, "\\$&")
    // Inside a word an underscore is plain.
    .replace(/(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])/gu, "\\_")
    .replace(/<(?! )/g, "\\<")
    .replace(/~(?=~|$)|(?<=^|~)~/g, "\\~")
    .replace(/&(?=#?\w{1,32};)/g, "\\&");

/** A line that would start a heading, list, quote, rule, fence or table. */
export const escapeLineStart = (line: string): string =>
  line
    .replace(/^(#{1,6}(?=\s|$)|[-+](?=[\s-]|$)|[>=|~]|:(?=-))/, "\\$1")
    .replace(/^(\d{1,9})([.)])(?=\s|$)/, "$1\\$2");

/** Code between as many backticks as it needs. */
export function toCodeSpan(code: string): string {
  const fence = "`".repeat(longestRun(code) + 1);
  const pad = /^`|`$|^ .* $/.test(code) ? " " : "";
  return `${fence}${pad}${code}${pad}${fence}`;
}

/** Three at least. */
export const fenceFor = (code: string): string => "`".repeat(Math.max(3, longestRun(code) + 1));

function longestRun(code: string): number {
  let longest = 0;
  for (const [run] of code.matchAll(/`+/g)) longest = Math.max(longest, run.length);
  return longest;
}
