/** The default limit for the content of an answer, measured before it is encoded as JSON. */
export const ANSWER_BYTES = 32 * 1024;

/** The part of an answer's budget reserved for the envelope and field names. */
export const ANSWER_MARGIN_BYTES = 2_048;

/** The hard limit of one answer; the rest is behind a ref or a cursor. */
export const MAX_ANSWER_BYTES = 10 * 1024 * 1024;
