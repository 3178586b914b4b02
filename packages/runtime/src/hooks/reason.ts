import type { Redact } from "../redact/index.ts";

const MAX_REASON_CHARS = 1_000;
const BETWEEN_WORDS = /[\t\n\v\f\r\u0085\u2028\u2029]+/g;
/** What a terminal would obey or hide. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}]+/gu;

/** What a hook printed, as one line that can be shown to anybody. */
export function toReason(printed: string, redact: Redact): string {
  // First, so that nothing hidden inside a secret keeps it from being found.
  const line = redact(printed.replace(BETWEEN_WORDS, " ").replace(UNSEEN, "").trim());
  return line.length <= MAX_REASON_CHARS ? line : `${line.slice(0, MAX_REASON_CHARS).toWellFormed()}…`;
}
