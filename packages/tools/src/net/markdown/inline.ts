import { collapseSpace, escapeText, toCodeSpan, withoutInvisible } from "./escape.ts";

export type InlineKind = "strong" | "em" | "del" | "code" | "link";

interface Frame {
  readonly kind: InlineKind | "block";
  readonly index: number;
  readonly href: string;
  parts: string[];
}

/** The text of one block under construction, with its open marks. */
export function createInline() {
  // At most one of each kind: bold in bold is just bold.
  const frames: Frame[] = [{ kind: "block", index: -1, href: "", parts: [] }];
  let run: string[] = [];

  const top = () => frames.at(-1)!;
  const isIn = (kind: InlineKind) => frames.some((frame) => frame.kind === kind);
  /**
   * Text arrives in pieces, and escaping depends on neighbouring characters, so it is buffered until something else
   * arrives.
   */
  const endRun = () => {
    if (run.length === 0) return;
    const text = collapseSpace(withoutInvisible(run.join("")));
    run = [];
    top().parts.push(isIn("code") ? text : escapeText(text));
  };
  const fold = () => {
    const frame = frames.pop()!;
    top().parts.push(wrap(frame));
    return frame;
  };

  return {
    text: (raw: string) => void run.push(raw),
    /** Appends text that is already Markdown. */
    markdown(text: string): void {
      endRun();
      top().parts.push(text);
    },
    lineBreak(): void {
      endRun();
      top().parts.push(isIn("code") ? " " : "\n");
    },
    open(kind: InlineKind, index: number, href = ""): void {
      if (isIn("code") || isIn(kind)) return;
      endRun();
      frames.push({ kind, index, href, parts: [] });
    },
    /** Closes the mark opened by the element with this index, if any. */
    close(index: number): void {
      if (frames.length === 1 || top().index !== index) return;
      endRun();
      fold();
    },
    /** The lines so far. Open marks continue in the next block. */
    take(): string[] {
      endRun();
      const open: Frame[] = [];
      while (frames.length > 1) open.unshift({ ...fold(), parts: [] });
      const text = top().parts.join("");
      top().parts = [];
      frames.push(...open);
      return text
        .split("\n")
        .map((line) => line.replace(/ {2,}/g, " ").trim())
        .filter((line) => line !== "");
    },
  };
}

const MARKS = { strong: "**", em: "*", del: "~~" } as const;

/** Marks adjoin the text; white space moves outside. */
function wrap({ kind, href, parts }: Frame): string {
  const text = parts.join("");
  const core = text.trim();
  if (core === "" || kind === "block") return text;
  const start = text.slice(0, text.length - text.trimStart().length);
  const end = text.slice(text.trimEnd().length);
  return start + mark(kind, href, core) + end;
}

function mark(kind: InlineKind, href: string, core: string): string {
  if (kind === "code") return toCodeSpan(core);
  // A mark does not span a line break.
  const oneLine = core.replace(/\s*\n\s*/g, " ");
  return kind === "link" ? `[${oneLine}](${href})` : `${MARKS[kind]}${oneLine}${MARKS[kind]}`;
}
