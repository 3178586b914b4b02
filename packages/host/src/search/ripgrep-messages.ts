import { fromNative, type Path } from "../path.ts";

/** ripgrep's messages about one file, in this order: begin, its matches, end. */
export type Message =
  | { readonly kind: "begin"; readonly path: Path }
  /** Not parsed yet: of many matches only a page is needed. `parseBlock` does it. */
  | { readonly kind: "match"; readonly json: Buffer }
  | { readonly kind: "end"; readonly matches: number };

/** One or more lines with the matches in them. Offsets are in bytes, as ripgrep saw the file. */
export interface Block {
  /** The number of the first line, from 0. */
  readonly line: number;
  /** Where the first line starts in the file. */
  readonly offset: number;
  /** The lines, or their retained beginning. */
  readonly head: Buffer;
  readonly submatches: readonly Submatch[];
}

export interface Submatch {
  /** From the block's offset on. */
  readonly start: number;
  readonly end: number;
  readonly head: Buffer;
}

const KIND_AT = '{"type":"'.length;
const BEGIN = "b".charCodeAt(0);
const MATCH = "m".charCodeAt(0);
const END = "e".charCodeAt(0);

/** undefined for unused messages, such as the summary. */
export function parseMessage(json: Buffer): Message | undefined {
  switch (json[KIND_AT]) {
    case BEGIN:
      return { kind: "begin", path: fromNative(toBytes(parse<BeginJson>(json).data.path)) };
    case MATCH:
      return { kind: "match", json };
    case END:
      return { kind: "end", matches: parse<EndJson>(json).data.stats.matches };
    default:
      return undefined;
  }
}

export function parseBlock(json: Buffer): Block {
  const { data } = parse<MatchJson>(json);
  return {
    line: data.line_number - 1,
    offset: data.absolute_offset,
    head: toBytes(data.lines),
    submatches: data.submatches.map(({ match, start, end }) => ({ start, end, head: toBytes(match) })),
  };
}

/** ripgrep uses base64 where the bytes are not UTF-8. */
type Text = { readonly text: string } | { readonly bytes: string };
interface BeginJson {
  readonly data: { readonly path: Text };
}
interface MatchJson {
  readonly data: {
    readonly lines: Text;
    readonly line_number: number;
    readonly absolute_offset: number;
    readonly submatches: readonly { readonly match: Text; readonly start: number; readonly end: number }[];
  };
}
interface EndJson {
  readonly data: { readonly stats: { readonly matches: number } };
}

// The shape is ripgrep's documented output format; the program comes with us, at a fixed version.
const parse = <T>(json: Buffer): T => JSON.parse(json.toString()) as T;

const toBytes = (text: Text): Buffer =>
  "text" in text ? Buffer.from(text.text) : Buffer.from(text.bytes, "base64");
