import { setImmediate as nextTurn } from "node:timers/promises";
import type { Block, Submatch } from "./ripgrep-messages.ts";
import type { Source } from "./search-source.ts";

const LINE_FEED = 0x0a;
const CHUNK_BYTES = 65_536;
const TURN_BYTES = 4_194_304;

/**
 * Turns ripgrep's byte offsets in one file into ranges, for matches in the order ripgrep gives them. Undefined means
 * that the file no longer holds what ripgrep found. `lineStart` is where the first line of a match starts, in bytes.
 */
export function createLocator(source: Source) {
  let current: { readonly block: Block; readonly agrees: boolean; readonly place: Place } | undefined;

  return async (block: Block, submatch: Submatch) => {
    if (current?.block !== block) current = { block, agrees: agrees(source, block), place: startOf(block) };
    const { place } = current;
    if (!current.agrees || !holds(source, block, submatch)) return undefined;
    const start = block.offset + submatch.start;
    const end = block.offset + submatch.end;
    await advance(source, place, start);
    const { line, col, lineStart } = place;
    await advance(source, place, end);
    const range = { start: { line, col }, end: { line: place.line, col: place.col } };
    return { range, lineStart, start, end };
  };
}

/** It only goes forward, so that many matches on one long line cost one walk along it. */
interface Place {
  byte: number;
  line: number;
  col: number;
  lineStart: number;
}

const startOf = ({ offset, line }: Block): Place => ({ byte: offset, line, col: 0, lineStart: offset });

const agrees = (source: Source, { offset, head }: Block): boolean =>
  (offset === 0 || source.slice(offset - 1, offset)[0] === LINE_FEED) &&
  source.slice(offset, offset + head.length).equals(head);

/** Only the beginnings of a long line and of a long match were retained; both are compared up to there. */
function holds(source: Source, block: Block, { start, end, head }: Submatch): boolean {
  if (end <= block.head.length) return true;
  const from = block.offset + start;
  return block.offset + end <= source.size && source.slice(from, from + head.length).equals(head);
}

async function advance(source: Source, place: Place, to: number): Promise<void> {
  let decoder: InstanceType<typeof TextDecoder> | undefined;
  for (let walked = 0; place.byte < to; ) {
    const chunk = source.slice(place.byte, Math.min(to, place.byte + CHUNK_BYTES));
    if (chunk.length === 0) return;
    const lastFeed = chunk.lastIndexOf(LINE_FEED);
    if (lastFeed !== -1) {
      place.line += countLineFeeds(chunk);
      place.lineStart = place.byte + lastFeed + 1;
      place.col = 0;
      decoder = undefined;
    }
    place.byte += chunk.length;
    const text = chunk.subarray(lastFeed + 1);
    const more = place.byte < to;
    if (more) decoder ??= new TextDecoder("utf-8", { ignoreBOM: true });
    place.col += (decoder?.decode(text, { stream: more }) ?? text.toString()).length;
    walked += chunk.length;
    if (walked % TURN_BYTES === 0) await nextTurn();
  }
}

function countLineFeeds(bytes: Buffer): number {
  let count = 0;
  for (let at = bytes.indexOf(LINE_FEED); at !== -1; at = bytes.indexOf(LINE_FEED, at + 1)) count++;
  return count;
}
