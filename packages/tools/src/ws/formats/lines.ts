const MAX_LINES = 10_000;
const MAX_LINE_CHARS = 2_000;

/** The lines of a manifest, as far as a person may have written them: patterns run on each, whoever wrote it. */
export const linesOf = (text: string): string[] =>
  text.split(/\r?\n/, MAX_LINES).filter((line) => line.length <= MAX_LINE_CHARS);

/** What the pattern's first group captures, line by line; blanks around a line are gone by then. */
export const capturesIn = (text: string, pattern: RegExp): string[] =>
  linesOf(text).flatMap((line) => {
    const [, captured] = pattern.exec(line.trim()) ?? [];
    return captured ? [captured] : [];
  });
