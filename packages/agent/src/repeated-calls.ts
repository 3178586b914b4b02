import { createHash } from "node:crypto";
import type { ToolCallPart, UserPart } from "./messages.ts";

/** The number of recent calls to compare. */
const WINDOW = 24;
/** The model is warned. */
const WARN_AT = 3;
/** The run ends. */
const STOP_AT = 6;

export interface RepeatedCalls {
  /** How often this call had this result recently, including this time. */
  count(call: ToolCallPart, content: readonly UserPart[]): number;
}

/** Detects a model in a loop: the same call with the same result, repeatedly. */
export function createRepeatedCalls(): RepeatedCalls {
  const recent: string[] = [];
  return {
    count(call, content) {
      const key = createHash("sha256")
        .update(JSON.stringify([call.name, call.arguments, content]))
        .digest("base64url");
      recent.push(key);
      if (recent.length > WINDOW) recent.shift();
      return recent.filter((one) => one === key).length;
    },
  };
}

export const isRepeated = (count: number): boolean => count >= WARN_AT;
export const isLoop = (count: number): boolean => count >= STOP_AT;

export const repeatedNote = (count: number): string =>
  `\n\n[This exact call has had this exact result ${count} times. Repeating it changes nothing; ` +
  `after ${STOP_AT} times the run ends. Try something else, or say what is missing.]`;
