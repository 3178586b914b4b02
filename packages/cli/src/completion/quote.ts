/** One word for bash, zsh and fish alike. */
export const quote = (text: string): string => `'${text.replaceAll("\\", "").replaceAll("'", "’")}'`;
