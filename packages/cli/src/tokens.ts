const CHARS_PER_TOKEN = 4;

/** The usual estimate of what a text costs a model. */
export const toTokens = (text: string): number => Math.ceil(text.length / CHARS_PER_TOKEN);
