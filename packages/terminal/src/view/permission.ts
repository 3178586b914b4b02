import { toOneLine } from "@octant/core";
import { alwaysInWords, type PermissionRequest } from "@octant/runtime";
import { hardWrap, type Line, lineWidth, type Span, span, textLines, wrap } from "../styled.ts";
import { viewDiff } from "./diff.ts";

const MAX_PREVIEW_LINES = 18;
const MAX_VALUE_CHARACTERS = 600;

export type Choice = {
  key: string;
  label: string;
  answer: "once" | "session" | "always" | "deny" | "reason";
};

/** The keys that a person can press. There is no default: Enter alone never allows anything. */
export function choicesFor(request: PermissionRequest): readonly Choice[] {
  if (request.question !== undefined) return [];
  return [
    { key: "y", label: "allow once", answer: "once" },
    { key: "s", label: "allow for this session", answer: "session" },
    ...(request.always ? [{ key: "a", label: "always allow", answer: "always" } as const] : []),
    { key: "n", label: "deny", answer: "deny" },
    { key: "r", label: "deny and say why", answer: "reason" },
  ];
}

export function viewPermission(request: PermissionRequest, width: number): Line[] {
  const title = wrap(
    [
      span("? ", { role: "warning", bold: true }),
      span(request.name, { bold: true }),
      span(`  ${brief(request)}`),
    ],
    width,
  );
  const why = indented(`asked because ${toOneLine(request.decision.reason)}`, width);
  return [
    ...title,
    ...why,
    ...what(request, width),
    ...always(request, width),
    ...choiceLines(request, width),
  ];
}

/** The first clause of our own summaries, whose details are for models; what a server says is shown whole. */
const brief = ({ name, summary }: PermissionRequest): string =>
  name.startsWith("mcp__") ? toOneLine(summary) : (toOneLine(summary).split(/[;.](?:\s|$)/, 1)[0] ?? "");

function what({ preview, input }: PermissionRequest, width: number): Line[] {
  if (preview) return viewDiff(preview, width, MAX_PREVIEW_LINES);
  return Object.entries(input)
    .filter(isSignificant)
    .flatMap(([name, value]) => {
      const text = typeof value === "string" ? value : JSON.stringify(value);
      const cut = text.length > MAX_VALUE_CHARACTERS ? `${text.slice(0, MAX_VALUE_CHARACTERS)}…` : text;
      const rows = textLines(cut).slice(0, MAX_PREVIEW_LINES);
      return rows.flatMap((row, i) =>
        hardWrap(
          [span(i === 0 ? `  ${toOneLine(name)}: ` : "    ", { role: "muted" }), ...risky(row)],
          width,
        ),
      );
    });
}

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

/** The rule that "always" would add; or that it is not offered. */
function always({ always: rule, decision, question, name }: PermissionRequest, width: number): Line[] {
  if (rule) return alwaysInWords(rule).flatMap((line) => hanging(line, width));
  if (decision.tier !== "default" || question !== undefined || name.startsWith("mcp__")) return [];
  return indented('"always" is not offered: a rule for this call would allow more than you see here', width);
}

/** Lines keep their own indentation, also where they are wrapped. */
function hanging(text: string, width: number): Line[] {
  const blanks = " ".repeat(text.search(/\S/));
  return indented(text.trim(), width - blanks.length).map((line) => [span(blanks), ...line]);
}

const indented = (text: string, width: number): Line[] =>
  wrap([span(text, { role: "muted" })], width - 2).map((line) => [span("  "), ...line]);

/** As many choices on a line as fit. */
function choiceLines(request: PermissionRequest, width: number): Line[] {
  const lines: Span[][] = [[]];
  for (const { key, label } of choicesFor(request)) {
    const choice = [span("  ["), span(key, { bold: true, role: "accent" }), span(`] ${label}`)];
    if (lineWidth([...lines.at(-1)!, ...choice]) > width) lines.push([]);
    lines.at(-1)!.push(...choice);
  }
  return lines;
}
