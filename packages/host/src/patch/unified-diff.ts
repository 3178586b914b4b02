import { isUtf8 } from "node:buffer";
import { type StructuredPatchHunk, structuredPatch } from "diff";
import type { Path } from "../path.ts";
import { encodeLiteral, gitId } from "./git-binary.ts";
import { encodeName } from "./git-name.ts";
import { UTF8, utf16FormOf } from "./text-form.ts";

export interface DiffOptions {
  readonly path: Path;
  /** null: the file does not exist. */
  readonly before: Buffer | null;
  readonly after: Buffer | null;
  /** Whether both states are links, whose content is their target. */
  readonly link?: boolean;
  /** A change of the permission bits is shown when both are given; the file type does not count. */
  readonly oldMode?: number;
  readonly newMode?: number;
  /** Whether binary content is written in full, so that the diff can be applied. */
  readonly binary?: "literal" | "summary";
}

const DEFAULT_MODE = 0o644;
const GIT_LOOKS_FOR_NUL_IN_BYTES = 8_000;
const EMPTY = Buffer.alloc(0);
const NO_ID = "0".repeat(40);

/**
 * The git-style diff of two states of one file; "" when they are equal. `parsePatch` and `applyChange` (and `git
 * apply`) turn `before` into exactly `after` with it.
 */
export function unifiedDiff(options: DiffOptions): string {
  const { before, after } = options;
  const head = headerLines(options);
  const isSame = (before ?? EMPTY).equals(after ?? EMPTY);
  const body = isSame ? "" : contentOf(options);
  if (head.length === 0 && body === "") return "";
  const { a, b } = names(options);
  return `${[`diff --git ${a} ${b}`, ...head].join("\n")}\n${body}`;
}

const names = ({ path }: DiffOptions) => ({ a: encodeName(`a/${path}`), b: encodeName(`b/${path}`) });

/** Changes other than the content. */
function headerLines({ before, after, link, oldMode, newMode }: DiffOptions): string[] {
  if (before === null && after === null) return [];
  if (before === null) return [`new file mode ${link ? LINK_MODE : gitMode(newMode)}`];
  if (after === null) return [`deleted file mode ${link ? LINK_MODE : gitMode(oldMode)}`];
  if (link || oldMode === undefined || newMode === undefined || gitMode(oldMode) === gitMode(newMode))
    return [];
  return [`old mode ${gitMode(oldMode)}`, `new mode ${gitMode(newMode)}`];
}

const LINK_MODE = "120000";
const gitMode = (mode = DEFAULT_MODE) => `100${(mode & 0o777).toString(8).padStart(3, "0")}`;

function contentOf(options: DiffOptions): string {
  const hunks = textHunks(options.before ?? EMPTY, options.after ?? EMPTY);
  if (hunks === undefined) return binaryContent(options);
  const { a, b } = names(options);
  // For a link that stays one, only this line shows that it is one.
  const index = options.link && options.before && options.after ? indexLine(options) : "";
  return `${index}--- ${options.before ? nameLine(a) : "/dev/null"}\n+++ ${options.after ? nameLine(b) : "/dev/null"}\n${hunks}`;
}

/** After a name with a space a tab marks its end, as git does. */
const nameLine = (name: string) => (name.includes(" ") ? `${name}\t` : name);

/** undefined when the changed lines are not text that a patch could convert back to these bytes. */
function textHunks(before: Buffer, after: Buffer): string | undefined {
  const utf16 = utf16FormOf(before);
  if (utf16 && utf16 === utf16FormOf(after)) {
    const hunks = diffHunks(utf16.decode(before), utf16.decode(after));
    return hunks.isWellFormed() && !hunks.includes("\0") ? hunks : undefined;
  }
  if (looksBinary(before) || looksBinary(after)) return undefined;
  const hunks = UTF8.encode(diffHunks(UTF8.decode(before), UTF8.decode(after)));
  const readsBack = isUtf8(before) ? isUtf8(hunks) : !hunks.some((byte) => byte >= 0x80);
  return readsBack && !hunks.includes(0) && !utf16 ? hunks.toString() : undefined;
}

const looksBinary = (content: Buffer) => content.subarray(0, GIT_LOOKS_FOR_NUL_IN_BYTES).includes(0);

function binaryContent(options: DiffOptions): string {
  const { before, after, binary = "literal" } = options;
  const { a, b } = names(options);
  if (binary === "summary")
    return `Binary files ${before ? a : "/dev/null"} and ${after ? b : "/dev/null"} differ\n`;
  return `${indexLine(options)}GIT binary patch\n${encodeLiteral(after ?? EMPTY)}`;
}

function indexLine({ before, after, link }: DiffOptions): string {
  const ids = [before, after].map((content) => (content ? gitId(content) : NO_ID));
  return `index ${ids.join("..")}${link && before && after ? ` ${LINK_MODE}` : ""}\n`;
}

const CONTEXT_LINES = 3;
/** The work is quadratic; beyond this, all lines between the first and the last difference are replaced. */
const MAX_EDIT_LENGTH = 1_000;

/** The hunks of a unified diff between two texts, with three lines of context. */
function diffHunks(before: string, after: string): string {
  const limits = { context: CONTEXT_LINES, maxEditLength: MAX_EDIT_LENGTH };
  const patch = structuredPatch("", "", before, after, "", "", limits);
  return (patch?.hunks ?? [oneHunk(before, after)])
    .map(({ oldStart, oldLines, newStart, newLines, lines }) => {
      const header = `@@ -${range(oldStart, oldLines)} +${range(newStart, newLines)} @@`;
      return `${[header, ...lines].join("\n")}\n`;
    })
    .join("");
}

/** An empty range names the line before it. */
function range(start: number, count: number): string {
  return count === 1 ? `${start}` : `${count === 0 ? start - 1 : start},${count}`;
}

function oneHunk(before: string, after: string): StructuredPatchHunk {
  const [old, made] = [toLines(before), toLines(after)];
  const most = Math.min(old.length, made.length);
  let start = 0;
  while (start < most && old[start] === made[start]) start++;
  let same = 0;
  while (same < most - start && old.at(-1 - same) === made.at(-1 - same)) same++;
  const [from, oldEnd] = [Math.max(0, start - CONTEXT_LINES), old.length - same];
  const lead = old.slice(from, start);
  const removed = old.slice(start, oldEnd);
  const added = made.slice(start, made.length - same);
  const tail = old.slice(oldEnd, oldEnd + CONTEXT_LINES);
  const context = lead.length + tail.length;
  return {
    oldStart: from + 1,
    oldLines: context + removed.length,
    newStart: from + 1,
    newLines: context + added.length,
    lines: [...marked(" ", lead), ...marked("-", removed), ...marked("+", added), ...marked(" ", tail)],
  };
}

/** With their endings, so that a last line without one differs. */
const toLines = (text: string): readonly string[] => text.match(/[^\n]*\n|[^\n]+$/g) ?? [];

const marked = (op: string, lines: readonly string[]): string[] =>
  lines.map(
    (line) => op + (line.endsWith("\n") ? line.slice(0, -1) : `${line}\n\\ No newline at end of file`),
  );
