import { BLOCKS, BOILERPLATE } from "./elements.ts";
import { escapeLineStart, fenceFor, toCodeSpan, withoutInvisible } from "./escape.ts";
import { type HtmlElement, isHidden, readHtml } from "./html-events.ts";
import { createInline, type InlineKind } from "./inline.ts";
import type { Survey } from "./survey.ts";
import { createTable, createWriter, type Table } from "./writer.ts";

interface List {
  readonly index: number;
  /** The number of the next item; undefined in an unordered list. */
  next: number | undefined;
  items: number;
}

interface Preformatted {
  readonly index: number;
  language: string;
  readonly parts: string[];
}

const INLINE = new Map<string, InlineKind>([
  ...["b", "strong"].map((name) => [name, "strong"] as const),
  ...["i", "em", "cite"].map((name) => [name, "em"] as const),
  ...["del", "s", "strike"].map((name) => [name, "del"] as const),
  ...["code", "kbd", "samp", "tt"].map((name) => [name, "code"] as const),
]);

/** undefined for a link that is not shown. */
export type ToHref = (href: string | undefined) => string | undefined;

/** Renders the parts that the survey selected, in one pass without recursion. */
export function renderPage(html: string, { main, layoutTables }: Survey, toHref: ToHref): string {
  const writer = createWriter();
  const inline = createInline();
  const lists: List[] = [];
  let table: Table | undefined;
  let pre: Preformatted | undefined;
  let heading = 0;
  let isInMain = main === undefined;
  /** The skipped element, until it closes. */
  let skipped = -1;

  const isSkipped = (element: HtmlElement) =>
    isHidden(element) || (main !== undefined && BOILERPLATE.has(element.name));

  /** Ends a line of text. In a table cell it is a space. */
  const endBlock = () => {
    if (table) return inline.text(" ");
    const lines = inline.take();
    if (lines.length === 0) return;
    if (heading > 0) return writer.block([`${"#".repeat(heading)} ${lines.join(" ")}`]);
    writer.block(lines.map((line, at) => escapeLineStart(line) + (at < lines.length - 1 ? "\\" : "")));
  };

  const openItem = (name: string) => {
    const list = lists.at(-1);
    const mark = name === "li" && list?.next !== undefined ? `${list.next++}. ` : "- ";
    const isNested = lists.length > 1;
    writer.tighten(name === "dd" || isNested || (list?.items ?? 0) > 0);
    if (list) list.items++;
    writer.indent(mark, " ".repeat(mark.length));
  };

  const openBlock = (element: HtmlElement) => {
    const { name, attributes, index } = element;
    endBlock();
    if (name === "pre") pre = { index, language: languageOf(element), parts: [] };
    if (table) {
      if (name === "tr") table.row();
      if (name === "td" || name === "th") inline.take();
      return;
    }
    if (name === "table" && !layoutTables.has(index)) table = createTable(index);
    if (/^h[1-6]$/.test(name)) heading = Number(name[1]);
    if (name === "hr") writer.block(["---"]);
    if (name === "blockquote") writer.indent("> ", "> ");
    if (name === "ul" || name === "menu" || name === "dl" || name === "dir")
      lists.push({ index, next: undefined, items: 0 });
    if (name === "ol") lists.push({ index, next: startOf(attributes), items: 0 });
    if (name === "li" || name === "dd") openItem(name);
  };

  const closeBlock = ({ name, attributes, index }: HtmlElement) => {
    if (table && (name === "td" || name === "th"))
      return table.cell(inline.take().join(" "), spanOf(attributes));
    if (table?.index === index) {
      const lines = table.lines();
      inline.take();
      table = undefined;
      if (lines.length > 0) writer.block(lines);
      return;
    }
    endBlock();
    if (table) return;
    if (/^h[1-6]$/.test(name)) heading = 0;
    if (name === "blockquote" || name === "li" || name === "dd") writer.outdent();
    if (lists.at(-1)?.index === index) {
      lists.pop();
      writer.tighten(false);
    }
  };

  const closePre = ({ parts, language }: Preformatted) => {
    const code = withoutInvisible(parts.join("").replace(/\r\n?/g, "\n")).replace(/^\n/, "").trimEnd();
    if (code === "") return;
    if (table) return inline.markdown(toCodeSpan(code.replace(/\s*\n\s*/g, " ")));
    const fence = fenceFor(code);
    writer.block([fence + language, ...code.split("\n"), fence]);
  };

  const openInPre = (element: HtmlElement, inside: Preformatted) => {
    if (element.name === "br") inside.parts.push("\n");
    if (element.name === "code") inside.language ||= languageOf(element);
  };

  const openInline = ({ name, attributes, index }: HtmlElement) => {
    const kind = INLINE.get(name);
    if (kind && !(kind === "strong" && heading > 0)) return inline.open(kind, index);
    if (name === "br") return heading > 0 || table ? inline.text(" ") : inline.lineBreak();
    if (name === "q") return inline.text('"');
    if (name === "img") return openImage(attributes, index);
    // An anchor of a heading to itself is only a convenience of the page.
    const isOwnAnchor = heading > 0 && attributes["href"]?.startsWith("#");
    const href = name === "a" && !isOwnAnchor ? toHref(attributes["href"]) : undefined;
    if (href !== undefined) inline.open("link", index, href);
  };

  /** A link, not a picture: a viewer of the text must not fetch anything on the page's behalf. */
  const openImage = ({ alt = "", src }: HtmlElement["attributes"], index: number) => {
    if (alt.trim() === "") return;
    const href = toHref(src);
    if (href !== undefined) inline.open("link", index, href);
    inline.text(alt);
    inline.close(index);
  };

  readHtml(html, {
    open(element) {
      if (skipped >= 0) return;
      if (element.index === main) isInMain = true;
      if (isSkipped(element)) skipped = element.index;
      if (skipped >= 0 || !isInMain) return;
      if (pre) return openInPre(element, pre);
      if (BLOCKS.has(element.name)) openBlock(element);
      else openInline(element);
    },
    text(text) {
      if (skipped >= 0 || !isInMain) return;
      if (pre) pre.parts.push(text);
      else inline.text(text);
    },
    close(element) {
      const { name, index } = element;
      if (skipped >= 0) {
        if (index === skipped) skipped = -1;
        return;
      }
      if (!isInMain) return;
      if (pre && pre.index !== index) {
        if (BLOCKS.has(name)) endLine(pre.parts);
        return;
      }
      if (pre) {
        const done = pre;
        pre = undefined;
        return closePre(done);
      }
      if (name === "q") inline.text('"');
      if (BLOCKS.has(name)) closeBlock(element);
      else inline.close(index);
      if (index === main) isInMain = false;
    },
  });
  endBlock();
  return writer.text();
}

function endLine(parts: string[]): void {
  if (!(parts.at(-1) ?? "\n").endsWith("\n")) parts.push("\n");
}

/** The class names that current highlighters use. */
function languageOf({ attributes: { class: classes = "", "data-lang": lang = "" } }: HtmlElement): string {
  const [, named = lang] =
    /(?:^|\s)(?:language|lang|highlight-source|brush:)-?\s?([\w+#.-]{1,32})/i.exec(classes.slice(0, 512)) ??
    [];
  return /^[\w+#.-]{1,32}$/.test(named) ? named.toLowerCase() : "";
}

const startOf = ({ start = "1" }: HtmlElement["attributes"]): number =>
  /^\d{1,8}$/.test(start) ? Number(start) : 1;

const spanOf = ({ colspan = "1" }: HtmlElement["attributes"]): number =>
  /^\d{1,3}$/.test(colspan) ? Number(colspan) : 1;
