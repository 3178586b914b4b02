import { type Hash, ToolError } from "@octant/core";
import type * as lsp from "vscode-languageserver-types";
import type { Confinement } from "../confinement.ts";
import type { Edits, PatchResult } from "../edits/edits.ts";
import { nameInPatch } from "../edits/plan-patch.ts";
import { utf16FormOf } from "../patch/text-form.ts";
import { unifiedDiff } from "../patch/unified-diff.ts";
import { type Path, pathToUri } from "../path.ts";
import { fromLspRange, pathOf, type SourcePlace, toLspRange } from "./lsp-places.ts";
import { readSourceText, type SourceText } from "./source-text.ts";

export interface AppliedEdit extends PatchResult {
  /** All of it as one unified diff. */
  readonly patch: string;
}

export interface ApplyOptions {
  readonly dryRun: boolean;
  /** Text that every place holds that is replaced; another text there means that the server knows an older file. */
  readonly expected?: string;
}

/** Applies a language server's edit atomically, under the current hashes of the files. */
export async function applyWorkspaceEdit(
  { confinement, edits }: { readonly confinement: Confinement; readonly edits: Edits },
  proposed: lsp.WorkspaceEdit,
  { dryRun, expected }: ApplyOptions,
  signal: AbortSignal,
): Promise<AppliedEdit | null> {
  const changes = toChanges(confinement, proposed).flatMap(({ path, edits: list }) => {
    const source = readSourceText(confinement, path);
    const after = applyTextEdits(source, list, expected);
    return after === source.text ? [] : [{ source, after }];
  });
  if (changes.length === 0) return null;
  const patch = changes.map(({ source, after }) => toDiff(confinement, source, after)).join("");
  const files = changes.map(({ source }): { uri: string; base_hash: Hash } => ({
    uri: pathToUri(source.path),
    base_hash: source.hash,
  }));
  return { ...(await edits.apply({ patch, files, dry_run: dryRun }, signal)), patch };
}

export interface ProposedEdit extends SourcePlace {
  readonly newText: string;
}

/** The places that a proposed edit would replace, and by what. */
export const proposedEdits = (confinement: Confinement, proposed: lsp.WorkspaceEdit): ProposedEdit[] =>
  toChanges(confinement, proposed).flatMap(({ path, edits }) =>
    edits.map(({ range, newText }) => ({ path, range: fromLspRange(range), newText })),
  );

/** The edit that puts one text at every place. */
export function editPlaces(places: readonly SourcePlace[], newText: string): lsp.WorkspaceEdit {
  const byUri = Map.groupBy(places, ({ path }) => pathToUri(path));
  const toEdits = (inFile: readonly SourcePlace[]) =>
    inFile.map(({ range }) => ({ range: toLspRange(range), newText }));
  return { changes: Object.fromEntries([...byUri].map(([uri, inFile]) => [uri, toEdits(inFile)])) };
}

function toChanges(
  confinement: Confinement,
  { changes = {}, documentChanges }: lsp.WorkspaceEdit,
): { path: Path; edits: lsp.TextEdit[] }[] {
  const listed = documentChanges
    ? documentChanges.map((change) => {
        if ("textDocument" in change) return { uri: change.textDocument.uri, edits: change.edits };
        const message = `the language server's edit would ${change.kind} files, which is not allowed; do that with fs.apply_patch first`;
        throw new ToolError("UNSUPPORTED", message, {
          what: `${change.kind} of files`,
          how: "use fs.apply_patch",
        });
      })
    : Object.entries(changes).map(([uri, edits]) => ({ uri, edits }));
  const byPath = new Map<Path, lsp.TextEdit[]>();
  for (const { uri, edits } of listed) {
    // Refuses paths outside the workspace.
    const path = confinement.toPath(pathToUri(pathOf(uri) ?? "/"));
    byPath.set(path, [...(byPath.get(path) ?? []), ...edits]);
  }
  return [...byPath].map(([path, edits]) => ({ path, edits }));
}

/** All edits refer to the text as it was; those at the same place come in the order they were given. */
export function applyTextEdits(
  source: SourceText,
  edits: readonly lsp.TextEdit[],
  expected?: string,
): string {
  const { text, path } = source;
  const offsetOf = createOffsets(text);
  const splices = edits
    .map(({ range, newText }) => ({ start: offsetOf(range.start), end: offsetOf(range.end), newText }))
    .sort((a, b) => a.start - b.start);
  let result = "";
  let done = 0;
  for (const { start, end, newText } of splices) {
    const isStale = expected !== undefined && start < end && !text.slice(start, end).includes(expected);
    if (isStale || start < done || end < start) throw outOfDate(source, path);
    result += text.slice(done, start) + newText;
    done = end;
  }
  return result + text.slice(done);
}

const outOfDate = ({ hash }: SourceText, path: Path) => {
  const uri = pathToUri(path);
  const message = `the language server has another version of ${uri}; try again in a moment`;
  return new ToolError("CONFLICT", message, { uri, expected: "the server's version", actual: hash });
};

/** Columns beyond the end of a line mean its end, as the protocol says. */
function createOffsets(text: string): (position: lsp.Position) => number {
  const starts = [0];
  for (const { 0: eol, index } of text.matchAll(/\r\n|\n|\r/g)) starts.push(index + eol.length);
  return ({ line, character }) => {
    const start = starts[line];
    if (start === undefined) return text.length;
    const next = starts[line + 1];
    const end = next === undefined ? text.length : next - (text.startsWith("\r\n", next - 2) ? 2 : 1);
    return Math.min(start + character, end);
  };
}

/** A byte order mark before the text is preserved. */
function toDiff(confinement: Confinement, { path, bytes, text }: SourceText, after: string): string {
  const utf16 = utf16FormOf(bytes);
  const encode = (part: string) => utf16?.encode(part) ?? Buffer.from(part);
  const mark = bytes.subarray(0, bytes.length - encode(text).length);
  const name = nameInPatch(confinement, path);
  return unifiedDiff({ path: name, before: bytes, after: Buffer.concat([mark, encode(after)]) });
}
