import type { Range } from "@octant/core";
import type { Node } from "web-tree-sitter";
import type { Grammars } from "./grammars.ts";
import type { Language } from "./language.ts";
import { rangeOf } from "./symbols.ts";

/** A syntax error. */
export interface SyntaxFault {
  readonly range: Range;
  readonly message: string;
}

const MAX_ERRORS = 100;

/** Unparsable and missing tokens in order; at most the first hundred. */
export async function findSyntaxErrors(
  grammars: Grammars,
  language: Language,
  text: string,
): Promise<SyntaxFault[]> {
  const { parse } = await grammars(language);
  return parse(text, errorsIn) ?? [];
}

/** Iterative, because a file can be nested deeper than the stack. */
function errorsIn(root: Node): SyntaxFault[] {
  const found: SyntaxFault[] = [];
  const waiting: Node[] = [root];
  for (let node = waiting.pop(); node && found.length < MAX_ERRORS; node = waiting.pop()) {
    if (!node.hasError) continue;
    if (!node.isError && !node.isMissing) {
      waiting.push(...node.children.filter((child) => child !== null).toReversed());
      continue;
    }
    found.push({
      range: rangeOf(node),
      message: node.isMissing ? `'${node.type}' is missing` : "syntax error",
    });
  }
  return found;
}
