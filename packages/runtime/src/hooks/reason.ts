import type { Redact } from "../redact/index.ts";

const MAX_REASON_CHARS = 1_000;
const BETWEEN_WORDS = /[\t\n\v\f\r\u0085\u2028\u2029]+/g;
/** Characters that a terminal would obey or hide. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}]+/gu;

/** A hook's output as one safe line. */
export function toReason(printed: string, redact: Redact): string {
  // Removed first, so that hidden characters cannot disguise a secret.
  const line = redact(printed.replace(BETWEEN_WORDS, " ").replace(UNSEEN, "").trim());
  return line.length <= MAX_REASON_CHARS ? line : `${line.slice(0, MAX_REASON_CHARS).toWellFormed()}…`;
}
