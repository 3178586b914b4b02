import { toVisible } from "../config/visible.ts";
import type { PermissionRequest } from "./prompter.ts";
import { describeRule } from "./rule.ts";

const MAX_VALUE_LINES = 12;
const MAX_LINE_CHARS = 400;
const MAX_PREVIEW_LINES = 200;

/**
 * The lines a person needs to decide. Everything from the call is shown with visible control
 * characters and behind a marker, so that it cannot imitate our own lines.
 */
export function describeRequest({
  name,
  summary,
  input,
  preview,
  decision,
}: PermissionRequest): readonly string[] {
  return [
    `${toVisible(name)}: ${toVisible(summary)}`,
    ...Object.entries(input).flatMap(([key, value]) => describeArgument(key, value)),
    ...(preview === undefined ? [] : ["  would change:", ...toLines(preview, MAX_PREVIEW_LINES)]),
    `  asked because: ${toVisible(decision.rule ? `${decision.reason} [${describeRule(decision.rule)}]` : decision.reason)}`,
  ];
}

function describeArgument(key: string, value: unknown): readonly string[] {
  const text = typeof value === "string" ? value : JSON.stringify(value);
  const lines = toLines(text ?? "", MAX_VALUE_LINES);
  return lines.length === 1 && text.length <= MAX_LINE_CHARS
    ? [`  ${toVisible(key)}: ${toVisible(text)}`]
    : [`  ${toVisible(key)}:`, ...lines];
}

function toLines(text: string, most: number): readonly string[] {
  const lines = text.replace(/\n$/, "").split("\n");
  const shown = lines.slice(0, most).map((line) => `  | ${cutLine(line)}`);
  const hidden = lines.length - shown.length;
  return hidden > 0 ? [...shown, `  (${hidden} more lines)`] : shown;
}

function cutLine(line: string): string {
  const hidden = line.length - MAX_LINE_CHARS;
  return (
    toVisible(line.slice(0, MAX_LINE_CHARS).toWellFormed()) +
    (hidden > 0 ? ` (${hidden} more characters)` : "")
  );
}
