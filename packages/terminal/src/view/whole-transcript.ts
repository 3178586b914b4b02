import { type StampedEvent, textOf } from "@octant/agent";
import type { Highlighter } from "../markdown/highlight.ts";
import { MdRenderer } from "../markdown/md-renderer.ts";
import type { Line } from "../styled.ts";
import { userSaid, viewEvent, viewOutput } from "./transcript.ts";

/** The whole conversation, with the full output of every call, for the pager. */
export function viewTranscript(
  events: Iterable<StampedEvent>,
  width: number,
  highlight?: Highlighter,
): Line[] {
  const titles = new Map<string, string>();
  const lines: Line[] = [];
  for (const event of events) {
    if (event.type === "tool_began") titles.set(event.call_id, event.title);
    if (event.type === "message") lines.push(...markdown(textOf(event.message.content), width, highlight));
    if (event.type === "stopped") lines.push(...markdown(event.text, width, highlight));
    const shown =
      event.type === "user" && event.origin === "person"
        ? userSaid(event.content, width)
        : viewEvent(event, (id) => titles.get(id) ?? "", width);
    lines.push(
      ...(event.type === "tool_ended"
        ? [shown[0] ?? [], ...viewOutput(textOf(event.content), width)]
        : shown),
    );
    if (shown.length > 0) lines.push([]);
  }
  return lines;
}

function markdown(text: string, width: number, highlight?: Highlighter): Line[] {
  if (text.trim() === "") return [];
  const renderer = new MdRenderer({ width, ...(highlight && { highlight }) });
  return [...renderer.renderChunk(text), ...renderer.flush(), []];
}
