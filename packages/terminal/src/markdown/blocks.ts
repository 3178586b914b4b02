type Open =
  | { kind: "paragraph" | "quote" | "html" | "indented" }
  | { kind: "list"; afterBlank: boolean }
  | { kind: "fence"; close: RegExp };

const FENCE = /^ {0,3}(`{3,}(?=[^`]*$)|~{3,})/;
const LIST_ITEM = /^ {0,3}(?:[-*+]|\d{1,9}[.)])(?:[ \t]|$)/;
const HEADING = /^ {0,3}#{1,6}(?:[ \t]|$)/;
const RULE = /^ {0,3}(?:(?:-[ \t]*){3,}|(?:_[ \t]*){3,}|(?:\*[ \t]*){3,})$/;
const SETEXT = /^ {0,3}(?:=+|-+)[ \t]*$/;
const QUOTE = /^ {0,3}>/;
const HTML = /^ {0,3}<[a-zA-Z/!?]/;
const TABLE_RULE = /^ {0,3}\|?(?:[ \t]*:?-+:?[ \t]*\|)+[ \t]*(?::?-+:?[ \t]*)?$/;
const INDENTED = /^(?: {4}|\t)/;

/**
 * Splits Markdown into top-level blocks, line by line. A block is complete when a line shows that it ended, so the
 * result does not depend on chunk boundaries, and later text never changes it.
 */
export class BlockSplitter {
  #open: Open | undefined;
  #lines: string[] = [];

  /** Handles one line without its line break; returns the completed blocks. */
  push(line: string): string[] {
    if (this.#continues(line)) return this.#ended(line) ? this.#close() : [];
    const done = this.#close();
    if (line.trim() === "") return done;
    this.#lines.push(line);
    this.#open = opening(line);
    return this.#open ? done : [...done, ...this.#close()];
  }

  /**
   * The end of the block that is not complete yet, at least `count` lines where it has them, such that it can be
   * rendered: a fence and a table with their head, a list from an item on.
   */
  tail(count: number): { lines: string[]; isWhole: boolean } {
    const all = this.#lines;
    let from = Math.max(all.length - count, 0);
    while (this.#open?.kind === "list" && from > 0 && !LIST_ITEM.test(all[from] ?? "")) from -= 1;
    const head = this.#open?.kind === "fence" ? 1 : TABLE_RULE.test(all[1] ?? "") ? 2 : 0;
    return { lines: [...all.slice(0, Math.min(head, from)), ...all.slice(from)], isWhole: from === 0 };
  }

  finish(): string[] {
    return this.#close();
  }

  /** Adds the line to the open block if it belongs there. */
  #continues(line: string): boolean {
    if (!this.#open || !belongs(this.#open, line)) return false;
    this.#lines.push(line);
    if (this.#open.kind === "list") this.#open.afterBlank = line.trim() === "";
    return true;
  }

  /** Whether the line just added was the last of its block. */
  #ended(line: string): boolean {
    if (this.#open?.kind === "fence") return this.#open.close.test(line);
    return this.#open?.kind === "paragraph" && SETEXT.test(line);
  }

  #close(): string[] {
    const lines = this.#lines;
    this.#lines = [];
    this.#open = undefined;
    while (lines.at(-1)?.trim() === "") lines.pop();
    return lines.length > 0 ? [lines.join("\n")] : [];
  }
}

/** A heading or a rule is complete with its line and opens nothing. */
function opening(line: string): Open | undefined {
  const fence = FENCE.exec(line)?.[1];
  if (fence) return { kind: "fence", close: new RegExp(`^ {0,3}\\${fence[0]}{${fence.length},}[ \\t]*$`) };
  if (HEADING.test(line) || RULE.test(line)) return undefined;
  if (LIST_ITEM.test(line)) return { kind: "list", afterBlank: false };
  if (QUOTE.test(line)) return { kind: "quote" };
  if (INDENTED.test(line)) return { kind: "indented" };
  return { kind: HTML.test(line) ? "html" : "paragraph" };
}

function belongs(open: Open, line: string): boolean {
  const blank = line.trim() === "";
  switch (open.kind) {
    case "fence":
      return true;
    case "html":
      return !blank;
    case "indented":
      return blank || INDENTED.test(line);
    case "list":
      if (blank) return true;
      if (RULE.test(line)) return false;
      if (LIST_ITEM.test(line) || /^(?: {2}|\t)/.test(line)) return true;
      return !open.afterBlank && !interrupts(line);
    case "quote":
      return !blank && (QUOTE.test(line) || !interrupts(line));
    case "paragraph":
      return !blank && (SETEXT.test(line) || !interrupts(line));
  }
}

/** Whether a line starts a new block even without a blank line before it. */
const interrupts = (line: string): boolean =>
  FENCE.test(line) ||
  HEADING.test(line) ||
  RULE.test(line) ||
  QUOTE.test(line) ||
  /^ {0,3}(?:[-*+]|1[.)])[ \t]+\S/.test(line);
