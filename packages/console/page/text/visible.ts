/** A run of ordinary text, or the name of a character that nobody would see. */
export type Piece = { readonly text: string } | { readonly mark: string };

// Emoji may carry a variation selector or a joiner; anywhere else these hide text.
const HIDDEN =
  /(?<!\p{Extended_Pictographic}|\p{Emoji})[\u{fe00}-\u{fe0f}]|(?<!\p{Extended_Pictographic}\u{fe0f}?|\p{Emoji_Modifier})\u{200d}|[\u{0}-\u{8}\u{b}-\u{1f}\u{7f}-\u{9f}\u{ad}\u{61c}\u{115f}\u{1160}\u{180e}\u{200b}\u{200c}\u{200e}\u{200f}\u{2028}-\u{202e}\u{2060}-\u{206f}\u{2800}\u{3164}\u{feff}\u{ffa0}\u{fff0}-\u{fffb}\u{fffe}\u{ffff}\u{1d173}-\u{1d17a}\u{e0000}-\u{e0fff}]|\u{34f}|\u{17b4}|\u{17b5}|[\u{180b}-\u{180d}]|\u{180f}|\p{Surrogate}|(?<=\p{M}{4})\p{M}+/gu;

/** Splits text so that control, invisible and direction-changing characters can be shown by name. */
export function toPieces(text: string): readonly Piece[] {
  // A carriage return before a line feed is an ordinary line end.
  const plain = text.replaceAll("\r\n", "\n");
  const pieces: Piece[] = [];
  let end = 0;
  for (const match of plain.matchAll(HIDDEN)) {
    if (match.index > end) pieces.push({ text: plain.slice(end, match.index) });
    pieces.push({ mark: nameOf(match[0]) });
    end = match.index + match[0].length;
  }
  if (end < plain.length) pieces.push({ text: plain.slice(end) });
  return pieces;
}

/** The same on one line, for titles and attributes. */
export const toVisible = (text: string): string =>
  toPieces(text.replaceAll(/[\t\n\r]+/g, " "))
    .map((piece) => ("text" in piece ? piece.text : `⟨${piece.mark}⟩`))
    .join("");

function nameOf(found: string): string {
  const code = found.codePointAt(0) ?? 0;
  if (/^\p{M}/u.test(found) && (code < 0xfe00 || code > 0xfe0f) && code !== 0x34f)
    return `+${[...found].length} marks`;
  return NAMES[code] ?? `U+${code.toString(16).toUpperCase().padStart(4, "0")}`;
}

const NAMES: Readonly<Record<number, string>> = {
  0: "NUL",
  7: "BEL",
  8: "BS",
  13: "CR",
  27: "ESC",
  127: "DEL",
  173: "SHY",
  8203: "ZWSP",
  8205: "ZWJ",
  8206: "LRM",
  8207: "RLM",
  8234: "LRE",
  8235: "RLE",
  8236: "PDF",
  8237: "LRO",
  8238: "RLO",
  8294: "LRI",
  8295: "RLI",
  8296: "FSI",
  8297: "PDI",
  65279: "BOM",
};
