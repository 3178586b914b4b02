import {
  type FormQuestion,
  type FormValues,
  type PermissionQuestion,
  type Question,
  type QuestionAnswer,
  toExact,
} from "@octant/core";
import { type Line, lineWidth, type Span, span, wrap } from "../styled.ts";
import { diffRows } from "./diff.ts";
import { viewRows } from "./rows.ts";

/** The part of a question that is asked at once: all of it, or one value of a form. */
export type Prompt = {
  question: Question;
  /** The value of the form that is asked for. */
  label?: string;
  /** The values of the form, before they are sent. */
  values?: FormValues | undefined;
};

export type Choice = {
  key: string;
  label: string;
  /** For a small window. */
  short: string;
  answer: QuestionAnswer["answer"] | "text";
};

/** The keys that a person can press. There is no default: Enter alone never allows anything. */
export function choicesFor({ question, label }: Prompt): readonly Choice[] {
  const decline = { key: "n", label: "decline", short: "decline", answer: "decline" } as const;
  if (label !== undefined) return [{ key: "r", label: "reply", short: "reply", answer: "text" }, decline];
  if (question.kind !== "permission") {
    const yes = question.kind === "form" ? sendOf(question) : toExact(question.yes).toLowerCase();
    return [{ key: "y", label: yes, short: "yes", answer: "accept" }, decline];
  }
  return [
    { key: "y", label: "allow once", short: "once", answer: "once" },
    { key: "s", label: "allow for this session", short: "session", answer: "session" },
    ...(question.always
      ? [{ key: "a", label: "always allow", short: "always", answer: "always" } as const]
      : []),
    { key: "n", label: "deny", short: "deny", answer: "deny" },
    { key: "r", label: "deny and say why", short: "why not", answer: "text" },
  ];
}

const sendOf = ({ url }: FormQuestion) => (url === undefined ? "send it" : "I have opened it");

/** A whole question. */
export type QuestionView = {
  lines: readonly Line[];
  /** How many of them say what would happen; the reason and the rule that "always" would add follow. */
  effect: number;
};

export function viewQuestion({ question, label, values }: Prompt, width: number): QuestionView {
  const titled = (text: string) =>
    wrap(
      [
        span("? ", { role: "warning", bold: true }),
        span(toExact(question.action), { bold: true }),
        span(`  ${text}`),
      ],
      width,
    );
  if (question.kind !== "permission") {
    const url = question.kind === "form" ? question.url : undefined;
    const asked: [string, unknown][] = [
      ["message", question.message],
      ["url", url],
      ...Object.entries(values ?? {}),
      ["question", label],
    ];
    const lines = [...titled("asks you"), ...viewValues(asked, width)];
    return { lines, effect: lines.length };
  }
  const { preview, input } = question;
  const what = preview
    ? diffRows(exactLines(preview), width)
    : viewValues(Object.entries(input).filter(isSignificant), width);
  const effect = [...titled(brief(question)), ...what];
  const why = indented(`asked because ${toExact(question.reason)}`, width);
  const rules = [...forSession(question, width), ...always(question, width)];
  return { lines: [...effect, ...why, ...rules], effect: effect.length };
}

/** The first clause of our own summaries, whose details are for models; the text of a server is shown whole. */
const brief = ({ action, summary }: PermissionQuestion): string =>
  action.startsWith("mcp__") ? toExact(summary) : (toExact(summary).split(/[;.](?:\s|$)/, 1)[0] ?? "");

const viewValues = (values: readonly (readonly [string, unknown])[], width: number): Line[] =>
  values
    .filter(([, value]) => value !== undefined)
    .flatMap(([name, value]) =>
      viewValue(toExact(name), typeof value === "string" ? value : JSON.stringify(value), width),
    );

/** Next to its name, or below it where that is too narrow. */
function viewValue(name: string, text: string, width: number): Line[] {
  const lines = exactLines(text);
  const label = span(`  ${name}: `, { role: "muted" });
  const line = [label, ...risky(lines[0] ?? "")];
  if (lines.length === 1 && lineWidth(line) <= width) return [line];
  return [
    ...viewRows([span(`${name}:`, { role: "muted" })], "  ", width),
    ...lines.flatMap((one) => viewRows(risky(one), "  │ ", width)),
  ];
}

/** A tab hides nothing, but has no fixed width. */
const exactLines = (text: string): string[] =>
  text
    .replace(/\n$/, "")
    .split("\n")
    .map((line) => toExact(line.replaceAll("\t", "    ")));

/** Disabled switches and empty lists only hide the important values. */
const isSignificant = ([name, value]: [string, unknown]): boolean =>
  value !== false &&
  value !== undefined &&
  !(typeof value === "object" && value !== null && Object.keys(value).length === 0) &&
  !/^(?:wait|timeout|max_bytes|max_size|limit)$/.test(name);

/** Parts of a command that destroy, send data away or raise privileges are highlighted. */
const RISKY =
  /(\bsudo\b|\brm\b(?:\s+-\w+)*|\bcurl\b|\bwget\b|\bchmod\b|\bchown\b|\bdd\b|--force\b|\bpush\b|>{1,2}|\|\s*(?:ba)?sh\b)/;

const risky = (text: string): Line =>
  text
    .split(RISKY)
    .flatMap((part, i) =>
      part === "" ? [] : [span(part, i % 2 === 1 ? { role: "error", bold: true } : {})],
    );

/** The calls that "session" would allow; the rule itself follows where "always" would add the same. */
function forSession({ session, always: rule }: PermissionQuestion, width: number): Line[] {
  if (!session) return indented('"session" allows exactly this call again, until the session ends', width);
  if (rule) return indented('"session" allows the same as "always", until the session ends', width);
  const lines = ['"session" allows this until the session ends:', ...session.map((line) => `  ${line}`)];
  return lines.flatMap((line) => hanging(toExact(line), width));
}

/** The rule that "always" would add; or that it is not offered. */
function always({ always: rule, tier, action }: PermissionQuestion, width: number): Line[] {
  if (rule) return [...new Set(rule.words)].flatMap((line) => hanging(toExact(line), width));
  if (tier !== "default" || action.startsWith("mcp__")) return [];
  return indented('"always" is not offered: a rule for this call would allow more than you see here', width);
}

/** Lines keep their own indentation, also where they are wrapped. */
function hanging(text: string, width: number): Line[] {
  const blanks = " ".repeat(text.search(/\S/));
  return indented(text.trim(), width - blanks.length).map((line) => [span(blanks), ...line]);
}

const indented = (text: string, width: number): Line[] =>
  wrap([span(text, { role: "muted" })], width - 2).map((line) => [span("  "), ...line]);

/** The choices on at most so many rows: with their labels if these fit, otherwise only the keys. */
export function viewChoices(prompt: Prompt, width: number, maxRows: number): Line[] {
  const choices = choicesFor(prompt);
  const ways = [
    choiceRows(
      choices.map(({ key, label }) => ({ key, text: `] ${label}`, margin: "  " })),
      width,
    ),
    choiceRows(
      choices.map(({ key, short }) => ({ key, text: `] ${short}`, margin: " " })),
      width,
    ),
  ];
  const keys = choiceRows(
    choices.map(({ key }) => ({ key, text: "]", margin: " " })),
    width,
  );
  return ways.find((rows) => rows.length <= maxRows && rows.every((row) => lineWidth(row) <= width)) ?? keys;
}

/** As many choices on a row as fit. */
function choiceRows(
  choices: readonly { key: string; text: string; margin: string }[],
  width: number,
): Line[] {
  const rows: Span[][] = [[]];
  for (const { key, text, margin } of choices) {
    const choice = [span(`${margin}[`), span(key, { bold: true, role: "accent" }), span(text)];
    if (rows.at(-1)!.length > 0 && lineWidth([...rows.at(-1)!, ...choice]) > width) rows.push([]);
    rows.at(-1)!.push(...choice);
  }
  return rows;
}
