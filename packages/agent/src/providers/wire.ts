import type { AssistantPart, ToolCallPart } from "../messages.ts";
import type { Usage } from "../usage.ts";

/** Access to untrusted JSON by a path of names: unexpected values become undefined, 0 or empty. */
export const fieldOf = (value: unknown, ...path: readonly string[]): unknown =>
  path.reduce(
    (at: unknown, name) =>
      typeof at === "object" && at !== null && Object.hasOwn(at, name)
        ? (at as Record<string, unknown>)[name] // Checked to be an object with this field.
        : undefined,
    value,
  );

export function stringOf(value: unknown, ...path: readonly string[]): string {
  const field = fieldOf(value, ...path);
  return typeof field === "string" ? field : "";
}

export function numberOf(value: unknown, ...path: readonly string[]): number {
  const field = fieldOf(value, ...path);
  return typeof field === "number" && Number.isFinite(field) ? field : 0;
}

export function listOf(value: unknown, ...path: readonly string[]): readonly unknown[] {
  const field = fieldOf(value, ...path);
  return Array.isArray(field) ? field : [];
}

/** For providers whose count of the input includes its cached part. */
export const toUsage = (input: number, cached: number, output: number, reasoning: number): Usage => ({
  input_tokens: Math.max(0, input - cached),
  cache_read_tokens: cached,
  cache_write_tokens: 0,
  output_tokens: output,
  reasoning_tokens: reasoning,
});

/** The part in the form that this API gave it; undefined when another one made it. */
export const nativeOf = (part: AssistantPart | undefined, api: string): unknown =>
  part?.native?.api === api ? part.native.data : undefined;

/** The input of a sendable call: its arguments are one JSON object. */
export const inputOf = ({ arguments: text }: ToolCallPart): unknown => JSON.parse(text);
