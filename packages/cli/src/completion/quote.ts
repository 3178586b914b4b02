/** Quotes a word in a way that bash, zsh and fish all accept. */
export const quote = (text: string): string => `'${text.replaceAll("\\", "").replaceAll("'", "’")}'`;
