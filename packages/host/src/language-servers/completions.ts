import type * as lsp from "vscode-languageserver-types";

export interface Completion {
  readonly label: string;
  readonly kind?: string;
  readonly detail?: string;
  readonly insert?: string;
}

export type LspCompletions = readonly lsp.CompletionItem[] | lsp.CompletionList;

export function toCompletions(answer: LspCompletions | null): readonly Completion[] {
  const items = answer && "items" in answer ? answer.items : (answer ?? []);
  return items.toSorted(bySortText).map(toCompletion);
}

const bySortText = (a: lsp.CompletionItem, b: lsp.CompletionItem): number => {
  const [left, right] = [a.sortText ?? a.label, b.sortText ?? b.label];
  return left < right ? -1 : left > right ? 1 : 0;
};

/** The protocol's completion kinds, from 1. */
const COMPLETION_KINDS = [
  ...["text", "method", "function", "constructor", "field", "variable", "class", "interface", "module"],
  ...["property", "unit", "value", "enum", "keyword", "snippet", "color", "file", "reference", "folder"],
  ...["constant", "constant", "struct", "event", "operator", "type"],
] as const;

function toCompletion({ label, kind, detail, insertText, textEdit }: lsp.CompletionItem): Completion {
  const insert = textEdit?.newText ?? insertText;
  const word = kind === undefined ? undefined : COMPLETION_KINDS[kind - 1];
  return {
    label,
    ...(word && { kind: word }),
    ...(detail && { detail }),
    ...(insert !== undefined && insert !== label && { insert }),
  };
}
