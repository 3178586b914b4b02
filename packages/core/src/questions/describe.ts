import { toExact } from "../visible.ts";
import { fieldsOf } from "./form.ts";
import type { PermissionBody, Question } from "./question.ts";

/** The lines a person needs to decide. */
export function describeQuestion(question: Question): readonly string[] {
  if (question.kind === "permission") return describePermission(question);
  const { action, message } = question;
  const asked = [`${toExact(action)} asks:`, ...toLines(message)];
  if (question.kind === "confirmation") return asked;
  const { url, schema } = question;
  const fields = fieldsOf(schema).map(({ name, label }) => `  ${toExact(name)}: ${toExact(label)}`);
  return [...asked, ...(url === undefined ? [] : toLines(url)), ...fields];
}

/**
 * Everything from the call is shown in full, with visible control characters and behind a marker, so that it can
 * neither hide nor imitate our own lines.
 */
function describePermission({
  action,
  summary,
  input,
  preview,
  reason,
  rule,
}: PermissionBody): readonly string[] {
  return [
    `${toExact(action)}: ${toExact(summary)}`,
    ...Object.entries(input).flatMap(([key, value]) => describeArgument(key, value)),
    ...(preview === undefined ? [] : ["  would change:", ...toLines(preview)]),
    `  asked because: ${toExact(rule === undefined ? reason : `${reason} [${rule}]`)}`,
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
