import { toPieces, toVisible } from "./visible.ts";

/** Text of a model, a tool or a file: always text nodes, isolated from the direction of the page. */
export function Foreign({ text, oneLine }: { readonly text: string; readonly oneLine?: boolean }) {
  if (oneLine) return <bdi class="foreign-line">{toVisible(text)}</bdi>;
  const pieces = toPieces(text);
  const [only] = pieces;
  if (pieces.length === 1 && only && "text" in only) return <bdi>{only.text}</bdi>;
  return (
    <bdi>
      {pieces.map((piece) =>
        "text" in piece ? piece.text : <span class="hidden-character">{piece.mark}</span>,
      )}
    </bdi>
  );
}
