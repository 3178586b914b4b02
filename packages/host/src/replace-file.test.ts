import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { replaceFile } from "./replace-file.ts";

function makeFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "octant-replace-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

test.each([true, false])(
  "a file is replaced whole, with its mode, and no draft stays (durable: %s)",
  (durable) => {
    const folder = makeFolder();
    const path = join(folder, "a");
    for (const content of ["one", Buffer.from("two")]) {
      replaceFile(path, content, { mode: 0o640, durable });
      expect(readFileSync(path, "utf8")).toBe(String(content));
    }
    expect(statSync(path).mode & 0o777).toBe(0o640);
    expect(readdirSync(folder)).toEqual(["a"]);
  },
);

test("a link is replaced, and its target stays as it was", () => {
  const folder = makeFolder();
  writeFileSync(join(folder, "target"), "kept");
  symlinkSync("target", join(folder, "link"));
  replaceFile(join(folder, "link"), "new", { mode: 0o600 });
  expect(readFileSync(join(folder, "target"), "utf8")).toBe("kept");
  expect(readFileSync(join(folder, "link"), "utf8")).toBe("new");
});

test("a failure leaves no draft", () => {
  const folder = makeFolder();
  mkdirSync(join(folder, "taken", "inside"), { recursive: true });
  expect(() => replaceFile(join(folder, "taken"), "new", { mode: 0o600 })).toThrow();
  expect(readdirSync(folder)).toEqual(["taken"]);
});
