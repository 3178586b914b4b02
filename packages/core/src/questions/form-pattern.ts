import { runInNewContext } from "node:vm";

/** A value that a person typed matches at once; only a pattern that backtracks without end needs longer. */
const MAX_MATCH_MS = 100;

/**
 * Whether a text matches a pattern that another program wrote, or why it could not be checked. Backtracking is
 * interrupted, so that a hostile pattern cannot block the process.
 */
export function matchPattern(pattern: string, text: string): boolean | "too slow" {
  try {
    return runInNewContext("new RegExp(pattern).test(text)", { pattern, text }, { timeout: MAX_MATCH_MS });
  } catch (cause) {
    if (Object(cause).code === "ERR_SCRIPT_EXECUTION_TIMEOUT") return "too slow";
    throw cause;
  }
}
