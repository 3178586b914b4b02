import { isDeeperThan, type Step, selectJson } from "./json-path.ts";

/** The result of parsing JSON: a value and its text, or the reason for the failure. */
export type JsonReading =
  | { readonly kind: "value"; readonly value: unknown; readonly text: string }
  | { readonly kind: "no_json" | "too_deep" | "missing" };

/** Deeper than any hand-made document, and shallow enough for every later reader. */
const MAX_DEPTH = 200;

export function readJson(text: string, steps: readonly Step[] | undefined): JsonReading {
  if (isDeeperThan(text, MAX_DEPTH)) return { kind: "too_deep" };
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { kind: "no_json" };
  }
  if (!steps) return { kind: "value", value, text };
  const selected = selectJson(value, steps);
  if (!selected.found) return { kind: "missing" };
  return { kind: "value", value: selected.value, text: JSON.stringify(selected.value) };
}
