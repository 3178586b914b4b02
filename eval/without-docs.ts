import type { Grammars, Language, SourceSymbol } from "@octant/search";

/** The text with blanks where comments and strings document something; everything else stays where it is. */
export async function withoutDocs(
  grammars: Grammars,
  language: Language,
  text: string,
  symbols: readonly SourceSymbol[],
): Promise<string> {
  const { parser, query } = await grammars(language);
  const tree = parser.parse(text);
  if (!tree) return text;
  try {
    const comments = tree.rootNode.descendantsOfType("comment").filter((node) => node !== null);
    const callables = symbols.filter(({ kind }) => /function|method|constructor/.test(kind));
    const isOutside = (at: number) => !callables.some(({ start, end }) => start < at && at < end);
    const documents = (comment: (typeof comments)[number]) => {
      let next = comment.nextNamedSibling;
      while (next?.type === "comment") next = next.nextNamedSibling;
      const [from, to] = [next?.startIndex ?? 0, next?.endIndex ?? -1];
      return callables.some(({ start }) => start >= from && start < to);
    };
    const docs = comments.filter((comment) => isOutside(comment.startIndex) || documents(comment));
    const strings = language.docstrings ? query(DOCSTRINGS).captures(tree.rootNode) : [];
    let bare = text;
    for (const { startIndex, endIndex } of docs) bare = blank(bare, startIndex, endIndex, "");
    // A body must not become empty.
    for (const { node } of strings) bare = blank(bare, node.startIndex, node.endIndex, "0");
    return bare;
  } finally {
    tree.delete();
  }
}

const DOCSTRINGS = `
  (module . (expression_statement (string) @doc))
  (block . (expression_statement (string) @doc))
`;

const blank = (text: string, start: number, end: number, instead: string) =>
  text.slice(0, start) +
  instead +
  text.slice(start + instead.length, end).replace(/[^\n]/g, " ") +
  text.slice(end);
