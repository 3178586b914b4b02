/** How much content an answer holds unless the caller asks for more. Content counts before it is written as JSON. */
export const ANSWER_BYTES = 32 * 1024;

/** What is kept of an answer's budget for the envelope and the names of fields. */
export const ANSWER_MARGIN_BYTES = 2_048;

/** More than this nobody gets in one answer; the rest is behind a ref or a cursor. */
export const MAX_ANSWER_BYTES = 10 * 1024 * 1024;
