import { invalidArgument, Position, SymbolId, ToolError, Uri } from "@octant/core";
import { type Confinement, encodePath, type Path, pathToUri, type Spot } from "@octant/host";
import { z } from "zod";
import { createNames } from "../search/source-files.ts";
import type { Code } from "./code.ts";

/** 1-based, as shown by text answers, compilers and editors. */
const LineAndColumn = z
  .string()
  .regex(/^[1-9]\d{0,8}(:[1-9]\d{0,8})?$/, 'at is "12:5" (line and column) or "12", counted from 1')
  .describe('1-based "12:5", with uri');

/** Errors of every action that takes a position in a file. */
export const POSITION_ERRORS = [
  ...(["NOT_FOUND", "NOT_A_FILE", "NOT_TEXT", "TOO_LARGE", "OUTSIDE_WORKSPACE", "ACCESS_DENIED"] as const),
];

/** The subject of a question: a position in a file, or a symbol. */
export const PositionInput = {
  uri: Uri.optional(),
  position: Position.optional().describe("0-based, with uri"),
  at: LineAndColumn.optional(),
  symbol_id: SymbolId.optional(),
};

const Given = z.object(PositionInput);

/** INVALID_ARGUMENT when the input has no position; NOT_FOUND when it names an unknown symbol. */
export async function toPosition(code: Code, input: z.output<typeof Given>): Promise<Spot> {
  const { uri, symbol_id } = input;
  if (symbol_id !== undefined) return findSymbol(code, symbol_id);
  if (uri === undefined || (input.position === undefined) === (input.at === undefined))
    throw invalidArgument("position", "give uri with position or at, or symbol_id");
  const source = code.sources.read(code.workspace.confinement.toPath(uri));
  const position = input.position ?? positionAt(source.text, input.at ?? "1");
  checkPosition(source.text, position);
  return { path: source.path, position, source };
}

/** A line alone stands for its first word. */
function positionAt(text: string, at: string): Position {
  const [line = 1, col] = at.split(":").map(Number);
  if (col !== undefined) return { line: line - 1, col: col - 1 };
  const [blank = ""] = /^\s*/.exec(text.split("\n", line)[line - 1] ?? "") ?? [];
  return { line: line - 1, col: blank.length };
}

/** The file in the input, given directly or by a symbol in it. */
export function toFile(
  code: Code,
  { uri, symbol_id }: Pick<z.output<typeof Given>, "uri" | "symbol_id">,
): Path {
  const { confinement } = code.workspace;
  if (symbol_id !== undefined) return code.sources.read(parseSymbolId(confinement, symbol_id).path).path;
  if (uri !== undefined) return code.sources.read(confinement.toPath(uri)).path;
  throw invalidArgument("uri", "give uri or symbol_id");
}

async function findSymbol({ sources, workspace }: Code, id: SymbolId): Promise<Spot> {
  const { path: asked, symbol } = parseSymbolId(workspace.confinement, id);
  const source = sources.read(asked);
  const { path } = source;
  const found = (await sources.symbols(path, source)).find((one) => one.path === symbol);
  if (found) return { path, position: found.nameRange.start, source };
  const uri = pathToUri(path);
  const message = `${uri} has no symbol '${symbol}'; code.outline lists its symbols`;
  throw new ToolError("NOT_FOUND", message, { uri, id });
}

function checkPosition(text: string, { line, col }: Position): void {
  let start = 0;
  for (let n = 0; n < line; n++) {
    start = text.indexOf("\n", start) + 1;
    if (start === 0) throw invalidArgument("position", `there is no line ${line + 1}; the file has ${n + 1}`);
  }
  const end = text.indexOf("\n", start);
  const length = (end < 0 ? text.length : end) - start;
  if (col > length)
    throw invalidArgument("position", `line ${line + 1} has no column ${col + 1}; it has ${length}`);
}

type Places = Pick<Confinement, "roots" | "toPath">;

/** `sym:src/a.ts#Outer.inner`: the path is relative to the first root where possible. */
export function toSymbolId({ roots }: Places, path: Path, symbol: string): SymbolId {
  return `sym:${encodePath(createNames(roots).toName(path))}#${symbol}`;
}

/** OUTSIDE_WORKSPACE when the path points outside. */
export function parseSymbolId(confinement: Places, id: SymbolId): { path: Path; symbol: string } {
  const cut = id.indexOf("#");
  const name = id.slice("sym:".length, cut);
  const root = encodePath(confinement.roots[0] ?? "/");
  const path = confinement.toPath(`file://${name.startsWith("/") ? name : `${root}/${name}`}`);
  return { path, symbol: id.slice(cut + 1) };
}
