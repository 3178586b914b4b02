import type { Range } from "@octant/core";
import type { UnplacedSymbol } from "./symbols.ts";

const FUNCTION =
  /^([ \t]*)(?:function[ \t]+([\w:.+-]+)[ \t]*(?:\([ \t]*\))?|([\w:.+-]+)[ \t]*\([ \t]*\))[ \t]*(?:[{(]|$)/;
const VARIABLE = /^([A-Za-z_]\w*)\+?=/;

/**
 * Functions and top-level variables of a shell script, read line by line. V8 needs 700 MB to optimise the
 * grammar's lexer, and a handful of scripts in a project trigger that.
 */
export function shellSymbols(text: string): UnplacedSymbol[] {
  const lines = text.split("\n");
  const starts: number[] = [];
  let offset = 0;
  for (const line of lines) {
    starts.push(offset);
    offset += line.length + 1;
  }
  const found: UnplacedSymbol[] = [];
  const describe = (kind: "function" | "variable", name: string, first: number, last: number) => {
    const [opening = "", closing = ""] = [lines[first], lines[last]];
    const col = opening.search(/\S/);
    const nameCol = opening.indexOf(name, col);
    found.push({
      name,
      kind,
      owner: undefined,
      doc: commentAbove(lines, first),
      range: rangeOf(first, col, last, closing.length),
      nameRange: rangeOf(first, nameCol, first, nameCol + name.length),
      signature: (kind === "function" ? opening.replace(/\s*[{(]?[^)]*$/, "") : opening).trim(),
      start: (starts[first] ?? 0) + col,
      end: (starts[last] ?? 0) + closing.length,
    });
  };
  let end = -1;
  for (const [at, line] of lines.entries()) {
    const [, indent = "", worded, plain] = FUNCTION.exec(line) ?? [];
    const name = worded ?? plain;
    if (name) {
      const last = lastLineOf(lines, at, indent);
      end = Math.max(end, last);
      describe("function", name, at, last);
      continue;
    }
    const variable = at > end ? VARIABLE.exec(line)?.[1] : undefined;
    if (variable) describe("variable", variable, at, at);
  }
  return found;
}

/** A body ends with the closing brace at the indentation of the function. */
function lastLineOf(lines: readonly string[], first: number, indent: string): number {
  if (/[})]\s*(?:#.*)?$/.test((lines[first] ?? "").replace(/\([ \t]*\)\s*$/, ""))) return first;
  const last = lines.findIndex(
    (line, at) => at > first && line.startsWith(indent) && /^[})]/.test(line.slice(indent.length)),
  );
  return last < 0 ? first : last;
}

function commentAbove(lines: readonly string[], first: number): string | null {
  let from = first;
  while (/^\s*#(?!!)/.test(lines[from - 1] ?? "")) from--;
  const comment = lines.slice(from, first).map((line) => line.replace(/^\s*#+\s?/, "").trim());
  return comment.join("\n").trim() || null;
}

const rangeOf = (line: number, col: number, endLine: number, endCol: number): Range => ({
  start: { line, col },
  end: { line: endLine, col: endCol },
});
