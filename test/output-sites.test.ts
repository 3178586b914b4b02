import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const PACKAGES = join(import.meta.dirname, "..", "packages");

/** Packages that talk to a person at a terminal; the others return values. */
const FRONT_ENDS = ["agent", "cli", "runtime", "terminal"];

/** Files that write to a terminal, and why what they write is safe there. */
const SITES: Readonly<Record<string, string>> = {
  "cli/src/commands/chat.ts": "notifications without control characters",
  "cli/src/output.ts": "shows control characters on terminals",
  "runtime/src/permissions/line-reader.ts": "shows control characters; its own sequences are constants",
  "terminal/src/app.ts": "rings the bell",
  "terminal/src/device.ts": "the terminal itself",
  "terminal/src/pager.ts": "lines go through paint",
  "terminal/src/plain-app.ts": "shows control characters",
  "terminal/src/screen.ts": "lines go through paint",
};

const WRITES = /\b(?:stdout|stderr|output|device|terminal)\.write\(|\bconsole\.\w+\(/;
const STYLES = /\bstyleText\(|\\x1b\[[\d;]*m|new Painted\(/;
const COMMENT = /\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/.*$/gm;

const sources = FRONT_ENDS.flatMap((name) =>
  readdirSync(join(PACKAGES, name, "src"), { recursive: true, encoding: "utf8" })
    .map((path) => `${name}/src/${path}`)
    .filter((path) => path.endsWith(".ts"))
    .filter((path) => !/\.test\.ts$|\/testing\//.test(path)),
).map((path) => ({ path, text: readFileSync(join(PACKAGES, path), "utf8").replace(COMMENT, "") }));

const filesWith = (pattern: RegExp) =>
  sources
    .filter(({ text }) => pattern.test(text))
    .map(({ path }) => path)
    .sort();

test("only the listed files write to a terminal", () => {
  expect(sources.length).toBeGreaterThan(200);
  expect(filesWith(WRITES)).toEqual(Object.keys(SITES).sort());
});

test("only the files that make text safe first colour it", () => {
  expect(filesWith(STYLES)).toEqual([
    "cli/src/output.ts",
    "cli/src/plain-markdown.ts",
    "terminal/src/paint.ts",
  ]);
});
