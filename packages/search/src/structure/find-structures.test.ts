import { expect, test } from "vitest";
import { createGrammars } from "../syntax/grammars.ts";
import { LANGUAGES, languageOf } from "../syntax/languages/index.ts";
import { createStructureFinder } from "./find-structures.ts";

const grammars = createGrammars();

async function find(file: string, pattern: string, text: string) {
  const language = languageOf(file);
  if (!language) throw new Error(`no language for ${file}`);
  return createStructureFinder(grammars, pattern)(language, text);
}
const texts = async (file: string, pattern: string, text: string) =>
  (await find(file, pattern, text))?.map((match) => match.text);
const captures = async (file: string, pattern: string, text: string) =>
  (await find(file, pattern, text))?.map((match) =>
    Object.fromEntries(Object.entries(match.captures).map(([name, capture]) => [name, capture.text])),
  );

const SIGNATURE = "async function $F($$$A): Promise<$T> { $$$B }";

test("async functions that return a promise are found with all their parts", async () => {
  const text = `
    async function login(name: string, key: string): Promise<User> { const a = 1; return find(name); }
    export async function ping(): Promise<void> {}
    function plain(): Promise<User> { return x; }
    async function untyped() { return 1; }`;
  expect(await captures("a.ts", SIGNATURE, text)).toEqual([
    { F: "login", A: "name: string, key: string", T: "User", B: "const a = 1; return find(name);" },
    { F: "ping", A: "", T: "void", B: "" },
  ]);
});

test("a match and its captures have their ranges", async () => {
  const [match] = (await find("a.ts", "foo($X)", "a;\n  foo(bar);")) ?? [];
  expect(match).toMatchObject({
    range: { start: { line: 1, col: 2 }, end: { line: 1, col: 10 } },
    captures: { X: { text: "bar", range: { start: { line: 1, col: 6 }, end: { line: 1, col: 9 } } } },
  });
});

test("a metavariable that occurs twice must match the same text", async () => {
  expect(await texts("a.ts", "$A === $A", "x === x; x === y; f(1) === f(1);")).toEqual([
    "x === x",
    "f(1) === f(1)",
  ]);
});

test("comments, commas, semicolons and extra keywords do not affect a match", async () => {
  const text = "call(a, /* why */ b,);\nasync function go() { /* nothing */ }";
  expect(await texts("a.ts", "call($A, $B)", text)).toHaveLength(1);
  expect(await texts("a.ts", "function $F() {}", text)).toHaveLength(1);
});

test("several statements match where they follow each other", async () => {
  const text = "lock(); work(); unlock(); lock(); unlock();";
  expect(await texts("a.ts", "lock(); $$$WORK; unlock()", text)).toEqual([
    "lock(); work(); unlock();",
    "lock(); unlock();",
  ]);
  expect(await texts("a.py", "x = $A\ny = $B", "x = 1\ny = 2\nx = 3\nz = 1\n")).toEqual(["x = 1\ny = 2"]);
});

test("operators and words distinguish patterns", async () => {
  expect(await texts("a.ts", "$A + $B", "a + b; a - b;")).toEqual(["a + b"]);
  expect(await texts("a.ts", "let $X = $Y", "let a = 1; const b = 2;")).toEqual(["let a = 1;"]);
});

/** For each language: a pattern, a text that matches it once, and the captures. */
const ROWS: readonly (readonly [
  file: string,
  pattern: string,
  text: string,
  captured: Record<string, string>,
])[] = [
  ["a.tsx", "<$T>$$$C</$T>", "const a = <b>x {y}</b>;", { T: "b", C: "x {y}" }],
  ["a.js", "class $A extends $B { $$$ }", "class X extends Y { m() {} }", { A: "X", B: "Y" }],
  [
    "a.py",
    "def $F($$$A): $$$B",
    "def add(a, b=1):\n    c = a\n    return c\n",
    { F: "add", A: "a, b=1", B: "c = a\n    return c" },
  ],
  [
    "a.go",
    "if $E != nil { return $$$R }",
    "package p\nfunc f() error {\n\tif err != nil {\n\t\treturn nil, err\n\t}\n}",
    { E: "err", R: "nil, err" },
  ],
  [
    "a.go",
    "func $F($$$A) error { $$$B }",
    "package p\nfunc run(a int) error {\n\treturn nil\n}",
    { F: "run", A: "a int", B: "return nil" },
  ],
  ["a.rs", "$X.unwrap()", "fn f() { let a = g(1).unwrap(); }", { X: "g(1)" }],
  [
    "a.rs",
    "fn $F($$$A) -> Result<$T, $E> { $$$B }",
    "fn r(a: u8) -> Result<u8, Bad> { Ok(a) }",
    { F: "r", A: "a: u8", T: "u8", E: "Bad", B: "Ok(a)" },
  ],
  ["a.java", "System.out.println($X);", 'class A { void f() { System.out.println("hi"); } }', { X: '"hi"' }],
  [
    "a.java",
    "public $T $M($$$A) { $$$B }",
    "class A { public int go(int a) { return a; } }",
    { T: "int", M: "go", A: "int a", B: "return a;" },
  ],
  ["a.c", "free($P);", "void f(char *a) { free(a); }", { P: "a" }],
  [
    "a.c",
    "int $F($$$A) { $$$B }",
    "int add(int a, int b) { return a + b; }",
    { F: "add", A: "int a, int b", B: "return a + b;" },
  ],
  ["a.cpp", "std::move($X)", "void f() { auto b = std::move(a); }", { X: "a" }],
  ["a.cs", "Console.WriteLine($X);", "class A { void F() { Console.WriteLine(1); } }", { X: "1" }],
  [
    "a.rb",
    "class $A < $B\n  $$$C\nend",
    "class Dog < Animal\n  def bark; end\nend",
    { A: "Dog", B: "Animal", C: "def bark; end" },
  ],
  ["a.rb", "puts $X", "puts name\nprint name", { X: "name" }],
  ["a.php", "strlen($X)", "<?php echo strlen($name);", { X: "$name" }],
  ["a.sh", "rm -rf $DIR", "ls\nrm -rf build\n", { DIR: "build" }],
  ["a.json", '{"version": $V}', '{"version": "1.2"}', { V: '"1.2"' }],
  ["a.yaml", "image: $I", "a:\n  image: nginx\n", { I: "nginx" }],
  ["a.css", "color: $C", "p { color: red; }", { C: "red" }],
  ["a.html", "<b>$X</b>", "<p><b>hi</b></p>", { X: "hi" }],
];

test.each(ROWS)("%s: %s", async (file, pattern, text, captured) => {
  expect(await captures(file, pattern, text)).toEqual([captured]);
});

test("every language with a grammar has a row", () => {
  const covered = new Set([...ROWS.map(([file]) => languageOf(file)?.id), "typescript"]);
  expect(LANGUAGES.filter(({ id }) => !covered.has(id))).toEqual([]);
});

test.each(["function (", "$X", "", "}}"])("%j is not a TypeScript pattern", async (pattern) => {
  expect(await find("a.ts", pattern, "let a = 1")).toBeUndefined();
});
