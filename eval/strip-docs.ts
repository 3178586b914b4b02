import type { Grammars, Language } from "@octant/search";

/** The text with blanks in place of documentation in comments and strings; everything else keeps its position. */
export async function stripDocs(grammars: Grammars, language: Language, text: string): Promise<string> {
  const { parse, query } = await grammars(language);
  const stripped = parse(text, (root) => {
    const comments = root
      .descendantsOfType(["comment", "line_comment", "block_comment"])
      .filter((node) => node !== null);
    const isDoc = language.id === "go" ? isOnTopLevel : ({ text: own }: { text: string }) => DOC.test(own);
    const docs = comments.filter((comment) => isDoc(comment));
    const strings = language.docstrings ? query(DOCSTRINGS).captures(root) : [];
    let bare = text;
    for (const { startIndex, endIndex } of docs) bare = blank(bare, startIndex, endIndex, "");
    // A body must not become empty.
    for (const { node } of strings) bare = blank(bare, node.startIndex, node.endIndex, "0");
    return bare;
  });
  return stripped ?? text;
}

const DOC = /^(?:\/\*\*(?!\/)|\/\*!|\/\/\/(?!\/)|\/\/!)/;
const isOnTopLevel = ({ parent }: { parent: { type: string } | null }) => parent?.type === "source_file";

const DOCSTRINGS = `
  (module . (comment)* . (expression_statement (string) @doc))
  (class_definition body: (block . (comment)* . (expression_statement (string) @doc)))
  (function_definition body: (block . (comment)* . (expression_statement (string) @doc)))
`;

const blank = (text: string, start: number, end: number, instead: string) =>
  text.slice(0, start) +
  instead +
  text.slice(start + instead.length, end).replace(/[^\n]/g, " ") +
  text.slice(end);
