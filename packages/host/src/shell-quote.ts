/** One word for a POSIX shell, whatever characters it has. */
export const shellQuote = (word: string): string => `'${word.replaceAll("'", "'\\''")}'`;
