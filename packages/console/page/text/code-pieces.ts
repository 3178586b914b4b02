export interface CodePiece {
  readonly text: string;
  readonly isCode: boolean;
}

/** A word in backticks ends where a backtick is followed by the end of a word: the word may hold backticks itself. */
const CODE = /(?<![^\s(])`(.+?)`(?![^\s,;:.)])/gs;

/** The parts of a sentence; one piece, as it is, when a backtick remains: nothing that a person decides by is lost. */
export function toCodePieces(text: string): readonly CodePiece[] {
  const pieces = text
    .split(CODE)
    .map((part, index) => ({ text: part, isCode: index % 2 === 1 }))
    .filter((piece) => piece.text !== "");
  const isClear = pieces.every((piece) => piece.isCode || !piece.text.includes("`"));
  return isClear ? pieces : [{ text, isCode: false }];
}
