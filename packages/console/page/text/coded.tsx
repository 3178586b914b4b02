import { toCodePieces } from "./code-pieces.ts";
import { Foreign } from "./foreign.tsx";

/** A sentence of ours, whose words in backticks are shown as code. */
export function Coded({ text }: { readonly text: string }) {
  return (
    <>
      {toCodePieces(text).map((piece, index) =>
        piece.isCode ? (
          <code key={index}>
            <Foreign text={piece.text} />
          </code>
        ) : (
          <Foreign key={index} text={piece.text} />
        ),
      )}
    </>
  );
}
