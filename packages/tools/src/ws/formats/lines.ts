const MAX_LINES = 10_000;
const MAX_LINE_CHARS = 2_000;

/** The lines of a manifest up to a limit: regular expressions run on untrusted lines. */
export const linesOf = (text: string): string[] =>
  text.split(/\r?\n/, MAX_LINES).filter((line) => line.length <= MAX_LINE_CHARS);

/** The first capture of the pattern in each trimmed line. */
export const capturesIn = (text: string, pattern: RegExp): string[] =>
  linesOf(text).flatMap((line) => {
    const [, captured] = pattern.exec(line.trim()) ?? [];
    return captured ? [captured] : [];
  });
