const SPACES = /[^\S\n]{16,}/g;
const EMPTY_LINES = /\n(?:[^\S\n]*\n){3,}/g;

/** Names long runs of blanks, behind which the rest of a command could hide. */
export const withoutGaps = (text: string): string =>
  text
    .replace(EMPTY_LINES, (gap) => `\n⟨${gap.split("\n").length - 2} empty lines⟩\n`)
    .replace(SPACES, (gap) => ` ⟨${gap.length} spaces⟩ `);
