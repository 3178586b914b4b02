import type { Inline } from "./tree.ts";

/** A text node that a style may still cover. */
type Open = { readonly delimiter: string; readonly at: number };

const TOKEN =
  /(?<escaped>\\[!-/:-@[-`{-~])|(?<ticks>`+)|(?<delimiter>\*\*\*|\*\*|\*|___|__|_|~~)|(?<bracket>!?\[)|(?<address>https?:\/\/[^\s<>"'`*[\]]+)|(?<newline> {2,}\n|\\\n|\n)/gu;

const STYLES = { "**": "strong", __: "strong", "*": "emphasis", _: "emphasis", "~~": "strike" } as const;
/** Deeper styles stay as they are written. */
const MAX_DEPTH = 8;

/** Reads styles, code, links and line breaks; everything else stays text. Every character is read once. */
export function parseInline(text: string, depth = 0): readonly Inline[] {
  const nodes: Inline[] = [];
  const open: Open[] = [];
  let plain = "";
  const flush = () => {
    if (plain !== "") nodes.push({ type: "text", text: plain });
    plain = "";
  };
  const ticks = findTicks(text);
  const token = new RegExp(TOKEN);
  let end = 0;
  for (let match = token.exec(text); match; match = token.exec(text)) {
    plain += text.slice(end, match.index);
    end = token.lastIndex;
    const { escaped, ticks: run, delimiter, bracket, address, newline } = match.groups ?? {};
    if (escaped) plain += escaped.slice(1);
    else if (newline) {
      flush();
      nodes.push(newline === "\n" ? { type: "text", text: "\n" } : { type: "break" });
    } else if (run) {
      const close = ticks.next(run.length, end);
      if (close === undefined) plain += run;
      else {
        flush();
        nodes.push({ type: "code", text: trimCode(text.slice(end, close)) });
        end = close + run.length;
      }
    } else if (address) {
      const href = address.replace(/[.,;:!?)]+$/, "");
      const link = toLink(href, [{ type: "text", text: href }]);
      flush();
      nodes.push(link ?? { type: "text", text: href });
      end = match.index + href.length;
    } else if (bracket) {
      const link = depth < MAX_DEPTH ? readLink(text, match.index, bracket, depth) : undefined;
      if (link) {
        flush();
        nodes.push(link.node);
        end = link.end;
      } else plain += bracket;
    } else if (delimiter) {
      for (const part of delimiter.length === 3 ? [delimiter.slice(0, 2), delimiter.slice(2)] : [delimiter]) {
        const at = match.index;
        flush();
        if (closes(text, at, delimiter) && wrap(nodes, open, part)) continue;
        if (opens(text, at, delimiter) && open.length < MAX_DEPTH)
          open.push({ delimiter: part, at: nodes.length });
        nodes.push({ type: "text", text: part });
      }
    }
    token.lastIndex = end;
  }
  plain += text.slice(end);
  flush();
  return joinTexts(nodes);
}

/** Puts the nodes since the opening delimiter below one style; false when none is open. */
function wrap(nodes: Inline[], open: Open[], delimiter: string): boolean {
  const index = open.findLastIndex((one) => one.delimiter === delimiter);
  const begun = open[index];
  if (!begun || begun.at + 1 >= nodes.length) return false;
  open.length = index;
  const [, ...content] = nodes.splice(begun.at);
  // The delimiters that the regular expression finds are the keys of the table.
  const type = STYLES[delimiter as keyof typeof STYLES];
  nodes.push({ type, content: joinTexts(content) });
  return true;
}

const opens = (text: string, at: number, run: string): boolean =>
  /\S/.test(text[at + run.length] ?? " ") && !(run[0] === "_" && /[\p{L}\p{N}]/u.test(text[at - 1] ?? " "));

const closes = (text: string, at: number, run: string): boolean =>
  /\S/.test(text[at - 1] ?? " ") && !(run[0] === "_" && /[\p{L}\p{N}]/u.test(text[at + run.length] ?? " "));

/** Where runs of backticks of each length are, so that unclosed ones do not cost a search each. */
function findTicks(text: string) {
  const places = new Map<number, number[]>();
  for (const { 0: run, index } of text.matchAll(/`+/g)) {
    const list = places.get(run.length);
    if (list) list.push(index);
    else places.set(run.length, [index]);
  }
  return {
    next(length: number, from: number): number | undefined {
      const list = places.get(length) ?? [];
      while (list.length > 0 && list[0]! < from) list.shift();
      return list[0];
    },
  };
}

const trimCode = (code: string): string => {
  const line = code.replaceAll("\n", " ");
  return /^ .*\S.* $/s.test(line) ? line.slice(1, -1) : line;
};

/** Longer labels and addresses are text. */
const MAX_LABEL_CHARS = 500;
const TARGET = /^\((?:<([^<>\n]{1,2000})>|([^\s()<>]{1,2000}))(?:\s+"[^"\n]{0,500}")?\)/;

function readLink(text: string, start: number, bracket: string, depth: number) {
  const from = start + bracket.length;
  const close = closeOf(text, from);
  if (close === undefined) return undefined;
  const target = TARGET.exec(text.slice(close + 1, close + 1 + 2600));
  if (!target) return undefined;
  const label = text.slice(from, close);
  const end = close + 1 + target[0].length;
  const href = target[1] ?? target[2] ?? "";
  // A picture is never loaded: its address is a link like any other.
  const isPicture = bracket.startsWith("!");
  const content: readonly Inline[] = isPicture
    ? [{ type: "text", text: label || "picture" }]
    : withoutLinks(parseInline(label, depth + 1));
  const node = toLink(href, content);
  if (node) return { node, end };
  const shown: Inline = { type: "text", text: `${label} (${href})` };
  return { node: shown, end };
}

function closeOf(text: string, from: number): number | undefined {
  let level = 0;
  for (let i = from; i < Math.min(text.length, from + MAX_LABEL_CHARS); i++) {
    const char = text[i];
    if (char === "\\") i++;
    else if (char === "[") level++;
    else if (char === "]" && level-- === 0) return i;
  }
  return undefined;
}

const withoutLinks = (content: readonly Inline[]): readonly Inline[] =>
  content.flatMap((node) => (node.type === "link" ? node.content : [node]));

/** undefined for anything but a web address. */
function toLink(href: string, content: readonly Inline[]): Inline | undefined {
  if (!URL.canParse(href)) return undefined;
  const url = new URL(href);
  if (url.protocol !== "https:" && url.protocol !== "http:") return undefined;
  return { type: "link", href: url.href, host: url.host, content };
}

function joinTexts(nodes: readonly Inline[]): readonly Inline[] {
  const joined: Inline[] = [];
  for (const node of nodes) {
    const last = joined.at(-1);
    if (node.type === "text" && last?.type === "text")
      joined[joined.length - 1] = { type: "text", text: last.text + node.text };
    else joined.push(node);
  }
  return joined;
}
