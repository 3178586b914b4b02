const CHARS_PER_TOKEN = 4;

/** The usual estimate of the tokens in a text. */
export const toTokens = (text: string): number => Math.ceil(text.length / CHARS_PER_TOKEN);
