import { expect, test } from "vitest";
import { createGrammars } from "./grammars.ts";
import { LANGUAGES, languageOf } from "./languages/index.ts";
import { findSymbols } from "./symbols.ts";

const grammars = createGrammars();

async function symbolsOf(file: string, text: string) {
  const language = languageOf(file);
  if (!language) throw new Error(`no language for ${file}`);
  return findSymbols(grammars, language, text);
}

/** A file of each language and its expected symbols. */
const ROWS: readonly (readonly [file: string, text: string, found: readonly string[]])[] = [
  [
    "a.ts",
    `export function add(a: number): number { return a; }
     export const LIMIT = 3;
     export const go = async (x: string) => { inner(); };
     export abstract class Foo<T> { #p = 1; method(a: T): void {} }
     interface I { x: number; f(): void }
     type T = string;
     enum E { A }
     namespace N { export function q() {} }
     let v = 1;`,
    [
      ...["function add", "constant LIMIT", "function go", "class Foo", "field Foo.#p", "method Foo.method"],
      ...[
        "interface I",
        "field I.x",
        "method I.f",
        "type T",
        "enum E",
        "module N",
        "function N.q",
        "variable v",
      ],
    ],
  ],
  ["a.tsx", "const App = () => <p>hi</p>;", ["function App"]],
  [
    "a.js",
    "function a() { function b() {} }\nclass C { constructor() {} get x() { return 1 } }\nmodule.exports.z = function () {};",
    ["function a", "function a.b", "class C", "method C.constructor", "method C.x", "function z"],
  ],
  [
    "a.py",
    "X = 1\n@deco\ndef f(a):\n  def g(): pass\nclass A(B):\n  y: int = 2\n  @property\n  def m(self):\n    return 1",
    ["variable X", "function f", "function f.g", "class A", "field A.y", "method A.m"],
  ],
  [
    "a.go",
    "package p\nfunc Add(a int) int { return a }\ntype S struct { X int }\nfunc (s *S) M() {}\ntype I interface { Foo() }\nconst K = 1\nvar (\n A = 1\n)",
    [
      ...["function Add", "struct S", "field S.X", "method S.M", "interface I", "method I.Foo"],
      ...["constant K", "variable A"],
    ],
  ],
  [
    "a.rs",
    "pub struct S { x: i32 }\nimpl S { pub fn m(&self) -> i32 { 1 } }\ntrait T { fn t(&self); }\nmod m { fn inner() {} }\nmacro_rules! mac { () => {} }\nfn main() {}",
    [
      ...["struct S", "field S.x", "method S.m", "trait T", "method T.t", "module m", "function m.inner"],
      ...["macro mac", "function main"],
    ],
  ],
  [
    "A.java",
    "public class A { int f; int m(int a) { return 1; } A() {} enum E { X } interface I { void q(); } }",
    [
      ...["class A", "field A.f", "method A.m", "constructor A.A", "enum A.E", "constant A.E.X"],
      ...["interface A.I", "method A.I.q"],
    ],
  ],
  [
    "a.c",
    "int add(int a) { return a; }\nchar *p(void) { return 0; }\nstruct s { int x; };\n#define M(x) x\nint g = 1;\nenum e { A1 };",
    [
      ...["function add", "function p", "struct s", "field s.x", "macro M", "variable g", "enum e"],
      "constant e.A1",
    ],
  ],
  [
    "a.cpp",
    "namespace n { class C { int m(); int i() { return 1; } int f; }; }\nint n::C::m() { return 1; }\ntemplate <class T> T id(T t) { return t; }\nusing X = int;",
    [
      ...["module n", "class n.C", "method n.C.m", "method n.C.i", "field n.C.f", "method C.m"],
      ...["function id", "type X"],
    ],
  ],
  [
    "a.cs",
    "namespace N { public class A { public int P { get; set; } public A() {} public void M(int a) { } } interface I {} }",
    ["module N", "class N.A", "field N.A.P", "constructor N.A.A", "method N.A.M", "interface N.I"],
  ],
  [
    "a.rb",
    "class A < B\n  X = 1\n  def m(a)\n  end\n  def self.s; end\nend\nmodule M; end",
    ["class A", "constant A.X", "method A.m", "method A.s", "module M"],
  ],
  [
    "a.php",
    "<?php\nclass A { public $x = 1; const K = 1; public function m($a) {} }\nfunction f() {}\ninterface I {} trait T {}",
    ["class A", "field A.$x", "constant A.K", "method A.m", "function f", "interface I", "trait T"],
  ],
  ["a.sh", "foo() { bar; }\nfunction baz { :; }\nX=1", ["function foo", "function baz", "variable X"]],
  ["a.json", '{"a": {"b": 1}, "c": [1]}', ["key a", "key a.b", "key c"]],
  ["a.yaml", "a:\n  b: 1\nc: [x]", ["key a", "key a.b", "key c"]],
  [
    "a.css",
    ".x .y { color: red }\n@media print { a { b: c } }",
    ["selector .x .y", "selector print", "selector print.a"],
  ],
  ["a.html", '<h1>Title</h1><div id="main">x</div>', ["heading Title", "element main"]],
];

test.each(ROWS)("the symbols of %s are found with their kinds and containers", async (file, text, found) => {
  expect((await symbolsOf(file, text)).map(({ kind, path }) => `${kind} ${path}`)).toEqual(found);
});

test("every language has a row here, and its query for calls compiles with its grammar", async () => {
  const shown = new Set(ROWS.map(([file]) => languageOf(file)?.id));
  for (const language of LANGUAGES) {
    expect(shown).toContain(language.id);
    if (language.calls) (await grammars(language)).query(language.calls);
  }
});

test("a symbol has the ranges of its definition and its name, in UTF-16 units", async () => {
  const [first] = await symbolsOf("a.ts", 'const s = "😀"; function f() {}');
  expect(first).toMatchObject({ name: "s" });
  const [, f] = await symbolsOf("a.ts", "/* 😀 */ const s = 1; function f() {}");
  expect(f).toMatchObject({
    name: "f",
    range: { start: { line: 0, col: 22 }, end: { line: 0, col: 37 } },
    nameRange: { start: { line: 0, col: 31 }, end: { line: 0, col: 32 } },
    signature: "function f()",
  });
});

test.each([
  ["a.ts", "/**\n * Adds two.\n * @param a one\n */\nexport function add() {}", "Adds two.\n@param a one"],
  ["a.ts", "const x = 1; // not about f\nfunction f() {}", null],
  ["a.ts", "// far away\n\n\nfunction f() {}", null],
  ["a.py", 'def f():\n  """Says f.\n\n  More."""\n', "Says f.\n\nMore."],
  ["a.go", "package p\n\n// Add adds.\n// Twice.\nfunc Add() {}", "Add adds.\nTwice."],
  ["a.rs", "/// Doc\n#[inline]\nfn f() {}", "Doc"],
  ["a.rb", "# Doc\ndef m; end", "Doc"],
  ["a.c", "/* adds */\nint add(void) { return 1; }", "adds"],
])("the doc comment of the last symbol of %s (%j) is %j", async (file, text, doc) => {
  expect((await symbolsOf(file, text)).at(-1)?.doc).toBe(doc);
});

test("repeated names in one file are numbered, so that each has a unique id", async () => {
  const text = "function f(a: string): void;\nfunction f(a: number): void;\nfunction f(a: any) {}";
  expect((await symbolsOf("a.ts", text)).map(({ path }) => path)).toEqual(["f", "f~2", "f~3"]);
});

test("text that does not parse still yields the recognisable symbols", async () => {
  const found = await symbolsOf("a.ts", "function ok() {}\n}}} class {{{ \nfunction alsoOk() {}");
  expect(found.map(({ name }) => name)).toEqual(expect.arrayContaining(["ok", "alsoOk"]));
});
