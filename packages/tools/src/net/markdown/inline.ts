import { collapseSpace, escapeText, toCodeSpan, withoutInvisible } from "./escape.ts";

export type InlineKind = "strong" | "em" | "del" | "code" | "link";

/** The text of one block as it comes, with the marks that are open. */
export interface Inline {
  text(raw: string): void;
  /** Something that is Markdown already. */
  markdown(text: string): void;
  lineBreak(): void;
  open(kind: InlineKind, index: number, href?: string): void;
  /** Ends what the element with this index began, if it began anything. */
  close(index: number): void;
  isIn(kind: InlineKind): boolean;
  /** The lines so far. What is open goes on in the next block. */
  take(): string[];
}

interface Frame {
  readonly kind: InlineKind | "block";
  readonly index: number;
  readonly href: string;
  parts: string[];
}

export function createInline(): Inline {
  // One of each kind at most: bold in bold is just bold.
  const frames: Frame[] = [{ kind: "block", index: -1, href: "", parts: [] }];
  let run: string[] = [];

  const top = () => frames.at(-1)!;
  const isIn = (kind: InlineKind) => frames.some((frame) => frame.kind === kind);
  /** Text comes in pieces, and what a character means depends on its neighbours: so it waits until something else comes. */
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
    text: (raw) => void run.push(raw),
    markdown(text) {
      endRun();
      top().parts.push(text);
    },
    lineBreak() {
      endRun();
      top().parts.push(isIn("code") ? " " : "\n");
    },
    open(kind, index, href = "") {
      if (isIn("code") || isIn(kind)) return;
      endRun();
      frames.push({ kind, index, href, parts: [] });
    },
    close(index) {
      if (frames.length === 1 || top().index !== index) return;
      endRun();
      fold();
    },
    isIn,
    take() {
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

/** Marks stand close to the text; white space goes outside. */
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
  // A mark does not reach over a line break.
  const oneLine = core.replace(/\s*\n\s*/g, " ");
  return kind === "link" ? `[${oneLine}](${href})` : `${MARKS[kind]}${oneLine}${MARKS[kind]}`;
}
