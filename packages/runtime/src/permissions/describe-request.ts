import { toExact } from "@octant/core";
import type { PermissionRequest } from "./prompter.ts";
import { describeRule } from "./rule.ts";

/**
 * The lines a person needs to decide. Everything from the call is shown in full, with visible control
 * characters and behind a marker, so that it can neither hide nor imitate our own lines.
 */
export function describeRequest({
  name,
  summary,
  input,
  preview,
  decision,
}: PermissionRequest): readonly string[] {
  return [
    `${toExact(name)}: ${toExact(summary)}`,
    ...Object.entries(input).flatMap(([key, value]) => describeArgument(key, value)),
    ...(preview === undefined ? [] : ["  would change:", ...toLines(preview)]),
    `  asked because: ${toExact(decision.rule ? `${decision.reason} [${describeRule(decision.rule)}]` : decision.reason)}`,
  ];
}

function describeArgument(key: string, value: unknown): readonly string[] {
  const text = typeof value === "string" ? value : (JSON.stringify(value) ?? "");
  const [only = "", ...more] = toLines(text);
  return more.length === 0 ? [`  ${toExact(key)}: ${toExact(text)}`] : [`  ${toExact(key)}:`, only, ...more];
}

const toLines = (text: string): readonly string[] =>
  text
    .replace(/\n$/, "")
    .split("\n")
    .map((line) => `  | ${toExact(line)}`);
