import { parseInline } from "./parse-inline.ts";
import type { Block, ListItem } from "./tree.ts";

/** Deeper quotes and lists are shown as text. */
const MAX_DEPTH = 6;

const FENCE = /^ {0,3}(`{3,}|~{3,})\s*([^\s`]*)[^`]*$/;
const HEADING = /^ {0,3}(#{1,6})(?:\s+(.*?))?(?:\s+#+)?\s*$/;
const RULE = /^ {0,3}(?:(?:\*\s*){3,}|(?:-\s*){3,}|(?:_\s*){3,})$/;
const QUOTE = /^ {0,3}> ?/;
const ITEM = /^( {0,3})([-*+]|\d{1,9}[.)])(?:( {1,4}|\t)(.*)|\s*)$/;
const TABLE_RULE = /^ {0,3}\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?\s*$/;
const TASK = /^\[([ xX])\]\s+/;

/** Parses Markdown. HTML stays text, links are http or https only, and pictures become links. */
export function parseMarkdown(text: string): readonly Block[] {
  return parseBlocks(text.replaceAll(/\r\n?/g, "\n").replaceAll("\t", "    ").split("\n"), 0);
}

function parseBlocks(lines: readonly string[], depth: number): readonly Block[] {
  const blocks: Block[] = [];
  let paragraph: string[] = [];
  const flush = () => {
    if (paragraph.length > 0)
      blocks.push({ type: "paragraph", content: parseInline(paragraph.join("\n").trim()) });
    paragraph = [];
  };
  for (let i = 0; i < lines.length; ) {
    const line = lines[i] ?? "";
    const found = line.trim() === "" ? undefined : readBlock(lines, i, depth, paragraph.length > 0);
    if (found) {
      flush();
      blocks.push(found.block);
      i = found.next;
      continue;
    }
    if (line.trim() === "") flush();
    else paragraph.push(line.trimStart());
    i++;
  }
  flush();
  return blocks;
}

type Found = { readonly block: Block; readonly next: number };

function readBlock(lines: readonly string[], i: number, depth: number, inText: boolean): Found | undefined {
  const line = lines[i] ?? "";
  const fence = FENCE.exec(line);
  if (fence) return readFence(lines, i, fence[1] ?? "", fence[2] ?? "");
  const heading = HEADING.exec(line);
  if (heading)
    return {
      block: { type: "heading", level: heading[1]?.length ?? 1, content: parseInline(heading[2] ?? "") },
      next: i + 1,
    };
  if (RULE.test(line)) return { block: { type: "rule" }, next: i + 1 };
  if (line.includes("|") && TABLE_RULE.test(lines[i + 1] ?? "")) return readTable(lines, i);
  if (depth >= MAX_DEPTH) return undefined;
  if (QUOTE.test(line)) return readQuote(lines, i, depth);
  const item = ITEM.exec(line);
  // Inside a paragraph only a list that starts at 1 interrupts, so that "2026." at a line's start does not.
  if (item && !(inText && /^\d/.test(item[2] ?? "") && !/^1[.)]/.test(item[2] ?? "")))
    return readList(lines, i, depth);
  return undefined;
}

function readFence(lines: readonly string[], i: number, fence: string, language: string): Found {
  const body: string[] = [];
  const close = new RegExp(`^ {0,3}${fence[0]}{${fence.length},}\\s*$`);
  let next = i + 1;
  while (next < lines.length && !close.test(lines[next] ?? "")) body.push(lines[next++] ?? "");
  return { block: { type: "code", language, text: body.join("\n") }, next: next + 1 };
}

function readQuote(lines: readonly string[], i: number, depth: number): Found {
  const body: string[] = [];
  let next = i;
  while (next < lines.length && QUOTE.test(lines[next] ?? ""))
    body.push((lines[next++] ?? "").replace(QUOTE, ""));
  return { block: { type: "quote", blocks: parseBlocks(body, depth + 1) }, next };
}

function readList(lines: readonly string[], i: number, depth: number): Found {
  const first = ITEM.exec(lines[i] ?? "");
  const ordered = /^\d/.test(first?.[2] ?? "");
  const items: ListItem[] = [];
  let next = i;
  for (;;) {
    const item = ITEM.exec(lines[next] ?? "");
    if (!item || /^\d/.test(item[2] ?? "") !== ordered || RULE.test(lines[next] ?? "")) break;
    const indent = (item[1]?.length ?? 0) + (item[2]?.length ?? 0) + (item[3]?.length ?? 1);
    const body = [item[4] ?? ""];
    next++;
    while (next < lines.length) {
      const line = lines[next] ?? "";
      if (line.trim() === "") {
        if (!isIndented(lines[next + 1] ?? "", indent)) break;
        body.push("");
      } else if (isIndented(line, indent)) body.push(line.slice(indent));
      // A nested list is often indented by two, whatever the width of the marker.
      else if (isIndented(line, 2) && ITEM.test(line.slice(2))) body.push(line.slice(2));
      else if (ITEM.test(line) || readsAsBlock(line)) break;
      else body.push(line.trimStart());
      next++;
    }
    items.push(toItem(body, depth));
    while ((lines[next] ?? "x").trim() === "" && ITEM.test(lines[next + 1] ?? "")) next++;
  }
  return {
    block: { type: "list", ordered, start: ordered ? Number.parseInt(first?.[2] ?? "1", 10) : 1, items },
    next: Math.max(next, i + 1),
  };
}

const isIndented = (line: string, by: number): boolean =>
  line.trim() !== "" && /^ */.exec(line)![0].length >= by;

const readsAsBlock = (line: string): boolean => FENCE.test(line) || HEADING.test(line) || QUOTE.test(line);

function toItem(body: readonly string[], depth: number): ListItem {
  const [head = "", ...rest] = body;
  const task = TASK.exec(head);
  if (!task) return { blocks: parseBlocks(body, depth + 1) };
  return { checked: task[1] !== " ", blocks: parseBlocks([head.slice(task[0].length), ...rest], depth + 1) };
}

function readTable(lines: readonly string[], i: number): Found {
  const head = cellsOf(lines[i] ?? "");
  const rows: (readonly string[])[] = [];
  let next = i + 2;
  while (next < lines.length && (lines[next] ?? "").includes("|")) rows.push(cellsOf(lines[next++] ?? ""));
  return {
    block: {
      type: "table",
      head: head.map((cell) => parseInline(cell)),
      rows: rows.map((row) => head.map((_, column) => parseInline(row[column] ?? ""))),
    },
    next,
  };
}

const cellsOf = (line: string): readonly string[] =>
  line
    .trim()
    .replace(/^\|/, "")
    .replace(/\|$/, "")
    .split(/(?<!\\)\|/)
    .map((cell) => cell.trim().replaceAll("\\|", "|"));
