import { createHash } from "node:crypto";
import type { ToolCallPart, UserPart } from "./messages.ts";

/** Calls that are looked back at. */
const WINDOW = 24;
/** The model is told. */
const WARN_AT = 3;
/** The run ends. */
const STOP_AT = 6;

export interface RepeatedCalls {
  /** How often this very call had this very result lately, this time included. */
  count(call: ToolCallPart, content: readonly UserPart[]): number;
}

/** Finds a model that goes round in circles: the same call with the same result, again and again. */
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
