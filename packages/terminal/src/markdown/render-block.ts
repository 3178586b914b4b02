import { toOneLine } from "@octant/core";
import { type MarkedToken, marked, type Token, type Tokens } from "marked";
import { hardWrap, type Line, lineWidth, type Span, type Style, span, textLines, wrap } from "../styled.ts";
import type { Highlighter } from "./highlight.ts";
import { renderTable } from "./table.ts";

export type BlockContext = { width: number; highlight: Highlighter };

const MIN_WIDTH = 8;
/** Deeper nesting is flattened to this depth, so that hostile input cannot exhaust the stack or the width. */
const MAX_DEPTH = 12;

/** Renders the source of one or more complete blocks, separated by empty lines. */
export function renderBlocks(source: string, context: BlockContext): Line[] {
  return renderTokens(marked.lexer(source), context, 0);
}

/** Blocks are separated by empty lines where `isSeparate`. */
function renderTokens(
  tokens: readonly Token[],
  context: BlockContext,
  depth: number,
  isSeparate: (token: Token) => boolean = () => true,
): Line[] {
  const lines: Line[] = [];
  for (const token of tokens) {
    // The lexer produces only its own token types: no extensions are installed.
    const rendered = renderToken(token as MarkedToken, context, depth);
    if (rendered.length === 0) continue;
    if (lines.length > 0 && isSeparate(token)) lines.push([]);
    lines.push(...rendered);
  }
  return lines;
}

function renderToken(token: MarkedToken, context: BlockContext, depth: number): Line[] {
  switch (token.type) {
    case "heading":
      return wrap(
        inline(token.tokens, { role: "heading", bold: true, underline: token.depth === 1 }),
        context.width,
      );
    case "paragraph":
      return wrap(inline(token.tokens, {}), context.width);
    case "text":
      return wrap(token.tokens ? inline(token.tokens, {}) : [text(token.text, {})], context.width);
    case "code":
      return code(token, context);
    case "blockquote":
      return indented(depth >= MAX_DEPTH ? [] : renderTokens(token.tokens, narrower(context, 2), depth + 1), [
        span("│ ", { role: "quote" }),
      ]);
    case "list":
      return list(token, context, depth);
    case "table":
      return renderTable(
        [token.header, ...token.rows].map((row) => row.map((cell) => inline(cell.tokens, {}))),
        token.align,
        context.width,
      );
    case "hr":
      return [[span("─".repeat(Math.min(context.width, 40)), { role: "rule" })]];
    case "html":
      return wrap([text(token.text.trimEnd(), { role: "muted" })], context.width);
    default:
      return [];
  }
}

function code(token: Tokens.Code, { width, highlight }: BlockContext): Line[] {
  const language = (token.lang ?? "").split(/[\s,{]/, 1)[0]?.toLowerCase() ?? "";
  const source = textLines(token.text).join("\n");
  const lines = highlight(source, language).flatMap((line) => hardWrap(line, Math.max(width - 2, MIN_WIDTH)));
  return indented(lines, [span("  ")]);
}

function list(token: Tokens.List, context: BlockContext, depth: number): Line[] {
  if (depth >= MAX_DEPTH) return [];
  const first = typeof token.start === "number" ? token.start : 1;
  const separate = token.loose && token.items.some((item) => item.tokens.length > 1);
  return token.items.flatMap((item, i) => {
    const bullet = token.ordered ? `${first + i}. ` : "• ";
    const marker = [
      span(bullet, { role: "marker" }),
      ...(item.task ? [span(item.checked ? "☑ " : "☐ ")] : []),
    ];
    const size = lineWidth([span(bullet)]);
    const inner = narrower(context, size + (item.task ? 2 : 0));
    // In a tight item the nested list follows its text without an empty line.
    const isSeparate = ({ type }: Token) => item.loose && type !== "list";
    const [head = [], ...rest] = renderTokens(item.tokens, inner, depth + 1, isSeparate);
    const lines = [[...marker, ...head], ...rest.map((line) => [span(" ".repeat(size)), ...line])];
    return separate && i > 0 ? [[], ...lines] : lines;
  });
}

const narrower = (context: BlockContext, by: number): BlockContext => ({
  ...context,
  width: Math.max(context.width - by, MIN_WIDTH),
});

const indented = (lines: readonly Line[], prefix: Line): Line[] => lines.map((line) => [...prefix, ...line]);

function inline(tokens: readonly Token[] | undefined, style: Style): Span[] {
  // As above: the lexer's own types.
  return ((tokens ?? []) as MarkedToken[]).flatMap((token) => inlineToken(token, style));
}

function inlineToken(token: MarkedToken, style: Style): Span[] {
  switch (token.type) {
    case "strong":
      return inline(token.tokens, { ...style, bold: true });
    case "em":
      return inline(token.tokens, { ...style, italic: true });
    case "del":
      return inline(token.tokens, { ...style, strike: true });
    case "codespan":
      return [text(token.text, { ...style, role: "code" })];
    case "br":
      return [span("\n", style)];
    case "link":
      return link(token, style);
    case "image":
      return [text(`[image: ${token.text || token.href}]`, { ...style, role: "link" })];
    case "text":
      return token.tokens ? inline(token.tokens, style) : [text(decodeEntities(token.text), style)];
    case "escape":
      return [text(token.text, style)];
    case "html":
      return /^<br\s*\/?>$/i.test(token.raw)
        ? [span("\n", style)]
        : [text(token.raw, { ...style, role: "muted" })];
    case "checkbox":
      return [];
    default:
      return [text(token.raw, style)];
  }
}

/** The address is always shown when it differs from the text, so that a link cannot disguise its target. */
function link(token: Tokens.Link, style: Style): Span[] {
  const shown = inline(token.tokens, { ...style, role: "link", underline: true });
  const label = shown.map((part) => part.text).join("");
  const same = label === token.href || `mailto:${label}` === token.href || `http://${label}` === token.href;
  return same ? shown : [...shown, text(` (${token.href})`, { ...style, role: "muted" })];
}

/** Line breaks inside a paragraph become spaces, control characters are escaped. */
const text = (value: string, style: Style): Span =>
  span(toOneLine(value.replace(/\s*\n\s*/g, " ").replaceAll("\t", " ")), style);

const ENTITIES: Readonly<Record<string, string>> = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
  nbsp: " ",
};

const decodeEntities = (value: string): string =>
  value.replace(/&(?:#(\d{1,7})|#[xX]([\da-fA-F]{1,6})|([a-z]+));/g, (whole, decimal, hex, name) => {
    if (name) return ENTITIES[name] ?? whole;
    const code = decimal ? Number(decimal) : Number.parseInt(hex, 16);
    return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : "\ufffd";
  });
