import { type AgentEvent, searchLines, textOf, type UserPart, withoutMentioned } from "@octant/agent";
import { counted, toOneLine } from "@octant/core";
import { hardWrap, type Line, type Span, type Style, span, textLines, truncate, wrap } from "../styled.ts";
import { viewDiff } from "./diff.ts";

const MAX_DIFF_LINES = 24;
const MAX_OUTPUT_LINES = 6;
const MAX_MESSAGE_LINES = 20;
const MAX_SOURCE_LINES = 10;

/** The queries of the provider's own web search, and the sources that it found. */
export const viewSearch = (search: Parameters<typeof searchLines>[0]): Line[] => {
  const lines = searchLines(search);
  const rest = lines.length - MAX_SOURCE_LINES;
  return [
    ...lines.slice(0, MAX_SOURCE_LINES),
    ...(rest > 0 ? [`… ${counted(rest, "more source")}`] : []),
  ].map((line, at) => [
    span(`${at < search.queries.length ? "∙" : " "} ${toOneLine(line)}`, { role: "muted" }),
  ]);
};

/** The lines that a stored event leaves in the scrollback. Model text is streamed elsewhere and not repeated here. */
export function viewEvent(event: AgentEvent, titleOf: (callId: string) => string, width: number): Line[] {
  switch (event.type) {
    case "user":
      return event.origin === "person" ? clipped(userSaid(event.content, width)) : [];
    case "tool_ended":
      return toolEnded(event, titleOf(event.call_id), width);
    case "permission_answered":
      return event.answer === "deny" || event.answer === "unattended"
        ? [[span(`  denied${event.reason ? `: ${toOneLine(event.reason)}` : ""}`, { role: "warning" })]]
        : [];
    case "compaction":
      return notice("info", compacted(event), width);
    case "model_changed":
      return [[span(`∙ model: ${toOneLine(event.model.id)}`, { role: "muted" })]];
    case "notice":
      return notice(event.level, event.text, width);
    case "end":
      return event.reason === "done"
        ? []
        : notice(event.reason === "cancelled" ? "info" : "error", event.message ?? event.reason, width);
    default:
      return [];
  }
}

function compacted(event: Extract<AgentEvent, { type: "compaction" }>): string {
  const { tokens_before, tokens_after, kept, summarized } = event;
  const how = summarized ? "" : " (cut, not summarised)";
  const stay =
    kept && kept.turns > 0 ? `; the last ${counted(kept.turns, "turn")}, ${kept.tokens} tokens, stay` : "";
  return `conversation compacted: ${tokens_before} → ${tokens_after} tokens${how}${stay}`;
}

/** A long message, such as a paste, is not repeated in full. */
function clipped(lines: Line[]): Line[] {
  const left = lines.length - MAX_MESSAGE_LINES;
  if (left <= 0) return lines;
  const note = `  … ${left + 1} more lines; Ctrl-O shows all`;
  return [...lines.slice(0, MAX_MESSAGE_LINES - 1), [span(note, { role: "muted" })]];
}

/** The person's whole message. */
export function userSaid(content: readonly UserPart[], width: number): Line[] {
  const pictures = content.filter(({ type }) => type === "image").length;
  const text = marked(
    span("› ", { role: "accent", bold: true }),
    textOf(withoutMentioned(content)),
    {},
    width,
  );
  return pictures > 0 ? [...text, [span(`  with ${counted(pictures, "picture")}`, { role: "muted" })]] : text;
}

/** A text with a mark before its first line. */
export const marked = (mark: Span, text: string, style: Style, width: number): Line[] =>
  textLines(text)
    .flatMap((line) => wrap([span(line, style)], width - 2))
    .map((line, i) => [i === 0 ? mark : span("  "), ...line]);

type ToolEnded = Extract<AgentEvent, { type: "tool_ended" }>;

function toolEnded(event: ToolEnded, title: string, width: number): Line[] {
  const failed = event.is_error;
  const exit = event.facts?.exit_code;
  const mark =
    failed || exit ? span("✗ ", { role: failed ? "error" : "warning" }) : span("✓ ", { role: "success" });
  const notes = [
    exit ? `exit ${exit}` : "",
    event.duration_ms >= 1000 ? `${(event.duration_ms / 1000).toFixed(1)} s` : "",
  ];
  const note = notes.filter(Boolean).join(" · ");
  const head = truncate(
    [mark, span(toOneLine(title)), ...(note ? [span(`  ${note}`, { role: "muted" })] : [])],
    width,
  );
  if (event.facts?.diff) return [head, ...viewDiff(event.facts.diff, width, MAX_DIFF_LINES)];
  if (exit !== undefined) return [head, ...tail(textOf(event.content), width)];
  return failed ? [head, ...beginning(textOf(event.content), width)] : [head];
}

/** The first lines of an error, which say what happened; the rest is for the model. */
function beginning(text: string, width: number): Line[] {
  const lines = textLines(text.trimEnd());
  const left = lines.length - MAX_OUTPUT_LINES;
  const shown = lines.slice(0, MAX_OUTPUT_LINES).flatMap((line) => viewOutput(line, width).slice(0, 2));
  return left <= 0
    ? shown
    : [...shown, [span(`  … ${counted(left, "line")} below; Ctrl-O shows all`, { role: "muted" })]];
}

/** The last lines of a command's output; the model has more. */
function tail(text: string, width: number): Line[] {
  const lines = textLines(text.trimEnd());
  if (lines.length === 1 && lines[0] === "") return [];
  const left = Math.max(lines.length - MAX_OUTPUT_LINES, 0);
  const more: Line[] =
    left > 0 ? [[span(`  … ${left} lines above; Ctrl-O shows all`, { role: "muted" })]] : [];
  return [...more, ...lines.slice(left).flatMap((line) => viewOutput(line, width).slice(0, 2))];
}

/** The output of a call, indented. */
export const viewOutput = (text: string, width: number): Line[] =>
  textLines(text.trimEnd())
    .flatMap((line) => hardWrap([span(line, { role: "muted" })], width - 2))
    .map((line) => [span("  "), ...line]);

const MARK = { info: "∙ ", warning: "! ", error: "✗ " } as const;
const ROLE = { info: "muted", warning: "warning", error: "error" } as const;

function notice(level: "info" | "warning" | "error", text: string, width: number): Line[] {
  const style = { role: ROLE[level] };
  return marked(span(MARK[level], style), text, style, width);
}
