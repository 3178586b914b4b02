import { expect, test } from "vitest";
import { createGrammars } from "./grammars.ts";
import { languageOf } from "./languages/index.ts";
import { findCalls, findOccurrences } from "./occurrences.ts";

const grammars = createGrammars();

const languageFor = (file: string) => {
  const language = languageOf(file);
  if (!language) throw new Error(`no language for ${file}`);
  return language;
};

/** Files that define `load`, call it inside `main` and mention it in a string and in a comment. */
const ROWS: readonly (readonly [file: string, text: string])[] = [
  ["a.ts", "// load\nfunction load() {}\nfunction main() { load(); this.load('load'); }"],
  ["a.tsx", "const load = () => 1;\nfunction main() { return <p title='load'>{load()}{x.load()}</p>; }"],
  ["a.js", "/* load */ function load() {}\nconst main = () => { load(); a.load(`load`); };"],
  ["a.py", "# load\ndef load(): pass\ndef main():\n  load()\n  self.load('load')"],
  ["a.go", 'package p\n// load\nfunc load() {}\nfunc main() { load(); a.load("load") }'],
  ["a.rs", '// load\nfn load() {}\nfn main() { load(); a.load("load"); }'],
  ["a.java", 'class A { /* load */ void load() {}\n void main() { load(); a.load("load"); } }'],
  ["a.c", '// load\nvoid load() {}\nvoid main() { load(); a->load("load"); }'],
  ["a.cpp", '// load\nvoid load() {}\nvoid main() { load(); a.load("load"); }'],
  ["a.cs", 'class A { // load\n void load() {}\n void main() { load(); a.load("load"); } }'],
  ["a.rb", "# load\ndef load; end\ndef main\n  load(1)\n  a.load('load')\nend"],
  ["a.php", "<?php // load\nfunction load() {}\nfunction main() { load(); $a->load('load'); }"],
];

test.each(ROWS)("%s: a definition and two calls, but not strings and comments", async (file, text) => {
  const found = await findOccurrences(grammars, languageFor(file), text, "load");
  expect(found.map(({ role }) => role)).toEqual(["definition", "call", "call"]);
  const calls = (await findCalls(grammars, languageFor(file), text)).filter(({ name }) => name === "load");
  expect(calls.map(({ name, within }) => [name, within?.path.split(".").at(-1)])).toEqual([
    ["load", "main"],
    ["load", "main"],
  ]);
});

test("a plain use is distinguished from a call, and a part of a longer name does not count", async () => {
  const text = "import { load } from './x';\nconst loader = load;\nreload();";
  const found = await findOccurrences(grammars, languageFor("a.ts"), text, "load");
  expect(found.map(({ role, range }) => [role, range.start.line])).toEqual([
    ["use", 0],
    ["use", 1],
  ]);
});

test("without a name every call is listed, in order", async () => {
  const calls = await findCalls(grammars, languageFor("a.ts"), "a(b()); new C(); d.e.f();");
  expect(calls.map(({ name }) => name)).toEqual(["a", "b", "C", "f"]);
  expect(await findCalls(grammars, languageFor("a.json"), "{}")).toEqual([]);
});

test("a definition is inside its enclosing symbol, not inside itself", async () => {
  const text = "class A { m() { return this.m(); } }";
  const found = await findOccurrences(grammars, languageFor("a.ts"), text, "m");
  expect(found.map(({ within }) => within?.path)).toEqual(["A", "A.m"]);
});

test("code inside macros counts, parsed or not", async () => {
  const rust =
    'fn main() { println!("{}", load(1)); assert!(a.load(vec![b::load(2)]).is_ok(), "load"); x![load!(3)]; }';
  const cpp = "#define TWICE(x) load(x) + \\\n  load(x)\nint main() { return TWICE(load(1)); }";
  for (const [file, text, count] of [
    ["a.rs", rust, 4],
    ["a.cpp", cpp, 3],
  ] as const) {
    const found = await findOccurrences(grammars, languageFor(file), text, "load");
    expect(found.map(({ role }) => role)).toEqual(Array(count).fill("call"));
    const lines = text.split("\n");
    for (const { range } of found)
      expect(lines[range.start.line]!.slice(range.start.col, range.end.col)).toBe("load");
    const calls = await findCalls(grammars, languageFor(file), text);
    expect(calls.filter(({ name }) => name === "load")).toHaveLength(count);
  }
});

test("in Ruby a sign belongs to the name, a symbol or variable names it, and a bare name is a call", async () => {
  const text = `class A
  def save!; end
  def save; @save = :save!; end
  def main
    save!
    a.save!(1) unless save?
    send(:save!)
    save
  end
  def other(save)
    save
  end
end`;
  const lines = async (name: string) =>
    (await findOccurrences(grammars, languageFor("a.rb"), text, name)).map(
      ({ role, range }) => `${role} ${range.start.line}:${range.start.col}`,
    );
  expect(await lines("save!")).toEqual(["definition 1:6", "use 2:21", "call 4:4", "call 5:6", "use 6:10"]);
  expect(await lines("save")).toEqual(["definition 2:6", "use 2:13", "call 7:4", "use 9:12", "use 10:4"]);
  expect(await lines("save?")).toEqual(["call 5:22"]);
});
