import { toOneLine, toVisible } from "@octant/core";
import type { StampedEvent } from "../events.ts";
import { textOf, type UserPart } from "../messages.ts";
import { searchLines } from "../web-search.ts";

/** All events, as a JSON array. */
export const exportJson = (events: readonly StampedEvent[]): string => `${JSON.stringify(events, null, 2)}\n`;

/** One entry of a transcript. */
interface TranscriptEntry {
  readonly kind: "user" | "assistant" | "thinking" | "call" | "note";
  readonly at: string;
  readonly title: string;
  readonly text: string;
  readonly failed: boolean;
}

/** The readable part of a session, in order. Characters that hide or reorder text are shown as their codes. */
function toTranscript(events: readonly StampedEvent[]): readonly TranscriptEntry[] {
  const titles = new Map<string, string>();
  return events.flatMap((event): TranscriptEntry[] => {
    const { at } = event;
    const entry = (kind: TranscriptEntry["kind"], title: string, text: string, failed = false) => [
      { kind, at, title: toOneLine(title), text: toVisible(text), failed },
    ];
    switch (event.type) {
      case "user":
        return entry(event.origin === "person" ? "user" : "note", event.origin, plain(event.content));
      case "message":
        return event.message.content.flatMap((part) => {
          if (part.type === "web_search") return entry("call", "web search", searchLines(part).join("\n"));
          if (part.type === "tool_call" || part.text === "") return [];
          return entry(part.type === "text" ? "assistant" : "thinking", part.type, part.text);
        });
      case "stopped":
        return entry("assistant", "stopped", event.text);
      case "tool_began":
        titles.set(event.call_id, event.title);
        return [];
      case "tool_ended": {
        const title = titles.get(event.call_id) ?? event.name;
        return entry("call", title, plain(event.content), event.is_error);
      }
      case "compaction":
        return entry("note", `compacted ${event.tokens_before} → ${event.tokens_after} tokens`, "");
      case "notice":
        return entry("note", event.level, event.text);
      case "end":
        return entry("note", `ended: ${event.reason}`, event.message ?? "");
      default:
        return [];
    }
  });
}

const plain = (content: readonly UserPart[]): string => {
  const images = content.filter(({ type }) => type === "image").length;
  return textOf(content) + (images > 0 ? `\n[${images} image${images > 1 ? "s" : ""}]` : "");
};

const titleOf = (events: readonly StampedEvent[]): string =>
  toOneLine(events.findLast((event) => event.type === "title")?.title ?? "Session");

export function exportMarkdown(events: readonly StampedEvent[]): string {
  const entries = toTranscript(events).map(({ kind, title, text, failed }) => {
    if (kind === "user") return `## You\n\n${text}`;
    if (kind === "assistant") return `## Octant\n\n${text}`;
    if (kind === "thinking") return quote(text);
    if (kind === "call")
      return `**${title.replaceAll("`", "'")}**${failed ? " (failed)" : ""}\n\n${fenced(text)}`;
    return `_${title}${text === "" ? "" : `: ${text.replaceAll("\n", " ")}`}_`;
  });
  return `# ${titleOf(events)}\n\n${entries.join("\n\n")}\n`;
}

const quote = (text: string) =>
  text
    .split("\n")
    .map((line) => `> ${line}`)
    .join("\n");

/** A fence that nothing in the text can close. */
function fenced(text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`{3,}/g)].map(([ticks]) => ticks.length));
  const fence = "`".repeat(longest + 1);
  return `${fence}\n${text.replace(/\n$/, "")}\n${fence}`;
}

const STYLE = `:root{color-scheme:light dark}body{font:15px/1.55 system-ui,sans-serif;max-width:52rem;margin:2rem auto;padding:0 1rem;overflow-wrap:anywhere}
h1{font-size:1.5rem}h2,h3,h4{font-size:1.1rem;margin:1rem 0 .3rem}section{margin:1rem 0}
pre,code{font:13px/1.45 ui-monospace,monospace}pre{white-space:pre-wrap;overflow-wrap:anywhere;margin:.4rem 0}
.markdown pre{background:#8882;border-radius:.4rem;padding:.6rem .8rem}.markdown :not(pre)>code{background:#8882;border-radius:.2rem;padding:0 .2rem}
.markdown table{border-collapse:collapse}.markdown td,.markdown th{border:1px solid #8886;padding:.15rem .5rem}
.markdown blockquote{border-left:3px solid #8886;margin:.4rem 0;padding-left:.8rem}
.user{background:#47a2;border-left:4px solid #47a;border-radius:.2rem;padding:.3rem .8rem}.user pre{font:inherit;margin:0}
.thinking,.note{opacity:.7}.note{font-size:13px;margin:.4rem 0}
details{border:1px solid #8886;border-radius:.4rem;margin:.4rem 0;padding:.2rem .6rem}summary{cursor:pointer;font:13px ui-monospace,monospace}
.failed summary{color:#c33}time{float:right;opacity:.5;font-size:12px}`;

/** A self-contained page: no scripts, no network. `renderMarkdown` must return inert HTML. */
export function exportHtml(
  events: readonly StampedEvent[],
  renderMarkdown: (markdown: string) => string,
): string {
  const title = escapeHtml(titleOf(events));
  const body = toTranscript(events).map(({ kind, at, title: name, text, failed }) => {
    const time = `<time datetime="${escapeHtml(at)}">${escapeHtml(at.slice(11, 19))}</time>`;
    const content =
      kind === "assistant" || kind === "thinking"
        ? `<div class="markdown">${renderMarkdown(text)}</div>`
        : `<pre>${escapeHtml(text)}</pre>`;
    if (kind === "call" || kind === "thinking")
      return `<details class="${kind}${failed ? " failed" : ""}"><summary>${time}${escapeHtml(name)}</summary>${content}</details>`;
    return `<section class="${kind}">${time}${kind === "note" ? `<em>${escapeHtml(name)}</em>` : ""}${text === "" ? "" : content}</section>`;
  });
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>${title}</title><style>${STYLE}</style></head>
<body><h1>${title}</h1>
${body.join("\n")}
</body></html>
`;
}

const ESCAPES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};
/** The text, safe in HTML and in its attributes. */
export const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, (sign) => ESCAPES[sign] ?? sign);
