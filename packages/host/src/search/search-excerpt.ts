import { restOfCharacter, wholeCharacters } from "../files/text.ts";
import type { Source } from "./search-source.ts";

/** How much is shown of a line, or of all the lines of one match. */
const MAX_TEXT_BYTES = 500;
/** How much of a cut line is shown in front of the match. */
const LEAD_BYTES = 120;
/** How far the line ends are searched. */
const REACH_BYTES = 65_536;

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;

/**
 * The part of the lines around a match that is shown; `truncated` when one of them is not shown whole. `lineStart` is where the first line of the match starts; all three are offsets in bytes.
 */
export function excerptOf(
  source: Source,
  { lineStart, start, end }: { readonly lineStart: number; readonly start: number; readonly end: number },
  context: number,
) {
  // A match that ends in a line feed ends on the line that it closes.
  const last = Math.max(start, end - 1);
  const lineFeed = source.slice(last, last + REACH_BYTES).indexOf(LINE_FEED);
  const lineEnd = lineFeed === -1 ? Math.min(last + REACH_BYTES, source.size) : last + lineFeed;
  const fits = lineEnd - lineStart <= MAX_TEXT_BYTES;
  const from = fits ? lineStart : Math.max(lineStart, start - LEAD_BYTES);
  const shown = clip(source.slice(from, lineEnd), from > lineStart);

  const before = context > 0 ? linesBefore(source.slice(lineStart - REACH_BYTES, lineStart), context) : [];
  const after =
    context > 0 && lineFeed !== -1
      ? linesAfter(source.slice(lineEnd + 1, lineEnd + 1 + REACH_BYTES), context)
      : [];
  return {
    text: shown.text,
    before: before.map(({ text }) => text),
    after: after.map(({ text }) => text),
    truncated: [shown, ...before, ...after].some(({ cut }) => cut),
  };
}

interface Clip {
  readonly text: string;
  readonly cut: boolean;
}

/** The text without its line end, and without half characters where it is cut. */
function clip(line: Buffer, cutInFront = false): Clip {
  const bytes = line.at(-1) === CARRIAGE_RETURN ? line.subarray(0, -1) : line;
  if (bytes.length <= MAX_TEXT_BYTES && !cutInFront) return { text: bytes.toString(), cut: false };
  const window = bytes.subarray(cutInFront ? restOfCharacter(bytes) : 0, MAX_TEXT_BYTES);
  return { text: window.toString("utf8", 0, wholeCharacters(window)), cut: true };
}

/** The last lines before a line. */
function linesBefore(bytes: Buffer, count: number): Clip[] {
  const lines: Clip[] = [];
  for (let end = bytes.length - 1; end >= 0 && lines.length < count; ) {
    const lineFeed = end === 0 ? -1 : bytes.lastIndexOf(LINE_FEED, end - 1);
    lines.unshift(clip(bytes.subarray(lineFeed + 1, end)));
    end = lineFeed;
  }
  return lines;
}

/** The first lines of what follows a line. */
function linesAfter(bytes: Buffer, count: number): Clip[] {
  const lines: Clip[] = [];
  for (let from = 0; from < bytes.length && lines.length < count; ) {
    const lineFeed = bytes.indexOf(LINE_FEED, from);
    const end = lineFeed === -1 ? bytes.length : lineFeed;
    lines.push(clip(bytes.subarray(from, end)));
    from = end + 1;
  }
  return lines;
}
