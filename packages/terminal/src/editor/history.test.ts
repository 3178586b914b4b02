import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { openHistory } from "./history.ts";

const newFile = () => {
  const folder = mkdtempSync(join(tmpdir(), "octant-history-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return join(folder, "history.jsonl");
};

test("a history starts with its version, and is read again without it", () => {
  const file = newFile();
  openHistory(file).add("first");
  openHistory(file).add("second");
  expect(readFileSync(file, "utf8")).toBe('{"version":1}\n"first"\n"second"\n');
  expect(openHistory(file).entries).toEqual(["first", "second"]);
});

test("a history without a version is read, and lines that are not messages are skipped", () => {
  const file = newFile();
  writeFileSync(file, '"old"\n{torn\n[1]\nnull\n"new"\n');
  expect(openHistory(file)).toMatchObject({ entries: ["old", "new"] });
  expect(openHistory(file).notice).toBeUndefined();
});

test("a history of a newer version is reported, not read and not written", () => {
  const file = newFile();
  const text = '{"version":2}\n"message"\n';
  writeFileSync(file, text);
  const history = openHistory(file);
  expect(history.notice).toContain("a newer version of Octant");
  history.add("mine");
  expect(history.entries).toEqual(["mine"]);
  expect(readFileSync(file, "utf8")).toBe(text);
});
