import { ToolError } from "@octant/core";
import { expect, test } from "vitest";
import { type Applied, applyChange } from "../packages/host/src/patch/apply.ts";
import type { FileChange } from "../packages/host/src/patch/change.ts";
import { parsePatch } from "../packages/host/src/patch/parse.ts";
import { type Content, type Files, TORTURE_ROWS, type TortureRow } from "./patch-torture/rows.ts";

test.each(TORTURE_ROWS)("$name", (row) => {
  if (row.error) return expectFailure(row);
  const { files, modes, types, results } = applyRow(row);
  expect(files).toEqual(toBytes(row.after ?? {}));
  expect(results.some(({ match }) => match === "whitespace") ? "whitespace" : "exact").toBe(
    row.match ?? "exact",
  );
  if (row.offsets)
    expect(results.flatMap(({ hunks }) => hunks.map(({ offset }) => offset))).toEqual(row.offsets);
  if (row.modes) expect(modes).toEqual(row.modes);
  if (row.types) expect(types).toEqual(row.types);
});

test("the table has a hundred rows with unique names", () => {
  const names = TORTURE_ROWS.map(({ name }) => name);
  expect(new Set(names).size).toBe(names.length);
  expect(names.length).toBeGreaterThanOrEqual(100);
});

function expectFailure(row: TortureRow): void {
  let failure: unknown;
  try {
    applyRow(row);
  } catch (error) {
    failure = error;
  }
  expect(failure).toBeInstanceOf(ToolError);
  const { code, message, details } = failure as ToolError;
  expect({ code, message }).toEqual({ code: row.error, message: expect.stringMatching(row.says ?? /./) });
  if (row.candidates) {
    const found = (details as ToolError<"PATCH_FAILED">["details"]).candidates ?? [];
    expect(found.map(({ line }) => line)).toEqual(row.candidates);
  }
}

/** Does the work of the transaction engine, on a map of files. */
function applyRow({ before, patch }: TortureRow) {
  const old = new Map(Object.entries(toFiles(before)));
  const files = new Map(old);
  const modes: Record<string, number> = {};
  const results: Applied[] = [];
  const changes = parsePatch(patch, "x");
  const types = Object.fromEntries(changes.map((change) => [change.path, change.type]));
  const isMade = ({ kind, path }: FileChange) =>
    kind === "create" && changes.some((other) => other.kind === "delete" && other.path === path);
  for (const change of changes) {
    const bytes = Buffer.from((isMade(change) ? undefined : old.get(change.path)) ?? "");
    results.push(applyChange(bytes, change));
    const removes = change.kind === "delete" || (change.kind === "update" && change.newPath && !change.copy);
    if (removes) files.delete(change.path);
  }
  for (const [i, change] of changes.entries()) {
    if (change.kind === "delete") continue;
    files.set(resultPath(change), results[i]!.after);
    if (change.mode !== undefined) modes[resultPath(change)] = change.mode;
  }
  return { files: toBytes(Object.fromEntries(files)), modes, types, results };
}

const resultPath = (change: FileChange) =>
  change.kind === "update" ? (change.newPath ?? change.path) : change.path;

const toFiles = (content: Content | Files): Files =>
  typeof content === "string" || Buffer.isBuffer(content) ? { x: content } : content;

/** Latin-1 shows every byte in a failure's diff. */
const toBytes = (content: Content | Files) =>
  Object.fromEntries(
    Object.entries(toFiles(content)).map(([path, bytes]) => [path, Buffer.from(bytes).toString("latin1")]),
  );
