import { type StampedEvent, textOf, withoutMentioned } from "@octant/agent";
import { counted, toOneLine } from "@octant/core";
import type { Highlighter } from "../markdown/highlight.ts";
import { MdRenderer } from "../markdown/md-renderer.ts";
import { type Line, span } from "../styled.ts";
import { viewDiff } from "./diff.ts";
import { marked, userSaid, viewEvent, viewOutput, viewSearch } from "./event.ts";

/** The whole conversation with its sub-agents, with the full output and diff of every call, for the pager. */
export function viewTranscript(
  events: Iterable<StampedEvent>,
  width: number,
  highlight?: Highlighter,
): Line[] {
  const titles = new Map<string, string>();
  /** The roles of sub-agents by session. */
  const roles = new Map<string, string>();
  const lines: Line[] = [];
  for (const event of events) {
    const { session_id } = event;
    if (event.type === "session_began" && event.parent?.role !== undefined)
      roles.set(session_id, event.parent.role);
    const role = roles.get(session_id);
    const by = role === undefined ? "" : `${role}: `;
    if (event.type === "tool_began") titles.set(`${session_id} ${event.call_id}`, `${by}${event.title}`);
    const shown = viewWhole(event, (id) => titles.get(`${session_id} ${id}`) ?? "", role, width, highlight);
    lines.push(...shown);
    if (shown.length > 0) lines.push([]);
  }
  return lines;
}

function viewWhole(
  event: StampedEvent,
  titleOf: (callId: string) => string,
  role: string | undefined,
  width: number,
  highlight: Highlighter | undefined,
): Line[] {
  if (event.type === "user") return viewSaid(event, role, width);
  if (event.type === "stopped") return markdown(event.text, width, highlight);
  if (event.type === "message") {
    const { content } = event.message;
    const searches = content.filter((part) => part.type === "web_search");
    const answer = markdown(textOf(content), width, highlight);
    return [...searches.flatMap(viewSearch), ...(answer.length > 0 ? [...byLine(role), ...answer] : [])];
  }
  const shown = viewEvent(event, titleOf, width);
  if (event.type !== "tool_ended") return shown;
  const { diff } = event.facts ?? {};
  return [
    shown[0] ?? [],
    ...(diff ? viewDiff(diff, width, Number.POSITIVE_INFINITY) : []),
    ...viewOutput(textOf(event.content), width),
  ];
}

/** A message of the person or the task of a sub-agent; other context of the model is muted. */
function viewSaid(
  { origin, content }: Extract<StampedEvent, { type: "user" }>,
  role: string | undefined,
  width: number,
): Line[] {
  if (origin === "person" && role === undefined) return userSaid(content, width);
  const style = { role: "muted" } as const;
  // The conversation that a task comes from follows it.
  const said = role === undefined ? withoutMentioned(content) : content.slice(0, 1);
  return [...byLine(role), ...marked(span("∙ ", style), textOf(said), style, width)];
}

const byLine = (role: string | undefined): Line[] =>
  role === undefined ? [] : [[span("⤷ ", { role: "accent" }), span(toOneLine(role), { bold: true })]];

export interface RecalledOptions {
  readonly width: number;
  /** The rows of what followed the message. */
  readonly maxRows: number;
  readonly highlight?: Highlighter;
}

/** The end of a stored conversation, from the person's last message on, much as it was on the screen. */
export function viewLastExchange(events: readonly StampedEvent[], options: RecalledOptions): Line[] {
  const { width, maxRows, highlight } = options;
  const from = events.findLastIndex((event) => event.type === "user" && event.origin === "person");
  const asked = events[from];
  if (!asked) return [];
  const titles = new Map<string, string>();
  const rest = events.slice(from + 1);
  const answer = rest.flatMap((event) => {
    if (event.type === "tool_began") titles.set(event.call_id, event.title);
    const titleOf = (id: string) => titles.get(id) ?? "";
    const shown =
      event.type === "message" || event.type === "stopped"
        ? viewWhole(event, titleOf, undefined, width, highlight)
        : viewEvent(event, titleOf, width);
    return shown.length > 0 ? [...shown, []] : [];
  });
  const isCut = !rest.some(({ type }) => type === "end");
  const left = answer.length > maxRows ? answer.length - maxRows + 1 : 0;
  return [
    ...viewEvent(asked, () => "", width),
    [],
    ...(left > 0
      ? [[span(`  … ${counted(left, "line")}; Ctrl-O shows all`, { role: "muted" as const })]]
      : []),
    ...answer.slice(left),
    ...(isCut
      ? [[span("! the agent ended here, in the middle of its work", { role: "warning" as const })], []]
      : []),
  ];
}

function markdown(text: string, width: number, highlight?: Highlighter): Line[] {
  if (text.trim() === "") return [];
  const renderer = new MdRenderer({ width, ...(highlight && { highlight }) });
  return [...renderer.renderChunk(text), ...renderer.flush()];
}
