import type { Path, SourceDiagnostic } from "@octant/host";
import type { Grammars, Language } from "@octant/search";
import type { Sources } from "../sources.ts";

type Parser = Awaited<ReturnType<Grammars>>["parser"];
type Node = NonNullable<ReturnType<Parser["parse"]>>["rootNode"];

const MAX_ERRORS = 100;

/** What the parser could not make sense of, and what it missed. */
export async function findSyntaxErrors(
  { grammars, read }: Sources,
  language: Language,
  path: Path,
): Promise<SourceDiagnostic[]> {
  const { parser } = await grammars(language);
  const tree = parser.parse(read(path).text);
  if (!tree) return [];
  try {
    const found: SourceDiagnostic[] = [];
    collect(tree.rootNode, path, found);
    return found;
  } finally {
    tree.delete();
  }
}

function collect(node: Node, path: Path, found: SourceDiagnostic[]): void {
  if (!node.hasError || found.length >= MAX_ERRORS) return;
  if (!node.isError && !node.isMissing) {
    for (const child of node.children) if (child) collect(child, path, found);
    return;
  }
  const { startPosition: start, endPosition: end } = node;
  found.push({
    path,
    range: { start: { line: start.row, col: start.column }, end: { line: end.row, col: end.column } },
    severity: "error",
    message: node.isMissing ? `'${node.type}' is missing` : "syntax error",
    source: "tree-sitter",
  });
}
