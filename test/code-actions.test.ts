import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createConfinement } from "@octant/host";
import { createDiagnosticsAfterEdit } from "@octant/tools";
import fc from "fast-check";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { type CodeProject, FIXTURES, openCodeProject, positionOf } from "./code-project.ts";

/** Positions that are queried. */
const RUNS = Number(process.env["FUZZ_RUNS"] ?? 30);
const opened: (() => PromiseLike<void> | void)[] = [];
afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close();
});

/** A project with these files, without any server unless requested. */
function openFiles(files: Readonly<Record<string, string>>, { servers = false } = {}): CodeProject {
  const folder = mkdtempSync(join(tmpdir(), "octant-files-"));
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), text);
  }
  const project = openCodeProject([folder], servers ? {} : { env: { PATH: "/nowhere" }, bundledFrom: null });
  opened.push(
    () => rmSync(folder, { recursive: true }),
    () => project[Symbol.asyncDispose](),
  );
  return project;
}

type Named = { name: string; symbol_id: string };
const names = (results: readonly Named[]) => results.map(({ name }) => name);
const ids = (results: readonly Named[]) => results.map(({ symbol_id }) => symbol_id);

test("a symbol is found by its name or a part of it, exact names first, types and functions before members and constants", async () => {
  const { call } = openFiles({
    "src/a.ts": "export class UserStore { loadUser() {} }\nexport const user = 1;\n",
    "src/b.py": "def user():\n    pass\n\n\ndef the_user():\n    pass\n",
    "README.md": "user\n",
  });
  const all = await call("code", "search_symbol", { query: "user" });
  expect(ids(all.data.results)).toEqual([
    "sym:src/b.py#user",
    "sym:src/a.ts#user",
    "sym:src/a.ts#UserStore",
    "sym:src/b.py#the_user",
    "sym:src/a.ts#UserStore.loadUser",
  ]);
  const some = await call("code", "search_symbol", { query: "user", kind: "function", scope: "src/b.py" });
  expect(names(some.data.results)).toEqual(["user", "the_user"]);
});

test.each(["search_symbol", "references", "outline", "search_ast"])(
  "the pages of %s neither repeat nor drop",
  async (action) => {
    const text = Array.from({ length: 23 }, (_, n) => `export const item${n} = item(${n});`).join("\n");
    const { call } = openFiles({ "a.ts": `export function item(n: number) { return n; }\n${text}\n` });
    const inputs: Record<string, object> = {
      search_symbol: { query: "item" },
      references: { symbol_id: "sym:a.ts#item" },
      outline: { uri: "a.ts" },
      search_ast: { pattern: "item($N)" },
    };
    const whole = (await call("code", action, inputs[action]!)).data.results;
    const paged = [];
    let cursor: string | undefined;
    do {
      const { data, meta, error } = await call("code", action, { ...inputs[action], limit: 5, cursor });
      expect(error).toBeNull();
      expect(data.results.length).toBeLessThanOrEqual(5);
      paged.push(...data.results);
      cursor = meta.paging.cursor ?? undefined;
    } while (cursor);
    expect(whole.length).toBeGreaterThan(20);
    expect(paged).toEqual(whole);
  },
);

test("structures are found in all files of a language, with their captures", async () => {
  const { call } = openFiles({
    "a.ts": "async function login(name: string): Promise<User> { return find(name); }\n",
    "b.ts": "function plain(): User { return x; }\n",
    "c.py": "async def login(): pass\n",
  });
  const pattern = "async function $F($$$A): Promise<$T> { $$$B }";
  const { data, meta } = await call("code", "search_ast", { pattern });
  expect(meta.backend).toBe("tree-sitter");
  expect(data.results).toMatchObject([{ symbol_id: "sym:a.ts#login", captures: { F: "login", T: "User" } }]);
});

test("a pattern that is not valid in the requested language is refused, and so is an unknown language", async () => {
  const { call } = openFiles({ "a.ts": "foo();\n" });
  for (const input of [
    { pattern: "}{", language: "typescript" },
    { pattern: "x", language: "klingon" },
  ])
    expect((await call("code", "search_ast", input)).error?.code).toBe("INVALID_ARGUMENT");
});

test("without a server, hover shows signature and documentation, and diagnostics show syntax errors", async () => {
  const { call } = openFiles({
    "a.ts": "/** Adds two. */\nexport function add(a: number, b: number) { return a + b; }\nadd(1, 2);\n",
    "b.ts": "function (( {\n",
  });
  const hover = await call("code", "hover", { uri: "a.ts", position: { line: 2, col: 1 } });
  expect(hover.meta.backend).toBe("tree-sitter");
  expect(hover.data.text).toContain("function add(a: number, b: number)");
  expect(hover.data.text).toContain("Adds two.");
  const broken = await call("code", "diagnostics", { uri: "b.ts" });
  expect(broken.data.results[0]).toMatchObject({ severity: "error", source: "tree-sitter" });
  expect((await call("code", "diagnostics", { uri: "a.ts" })).data.results).toEqual([]);
});

test("an unknown language is answered by word heuristics", async () => {
  const { call } = openFiles({
    "a.zig": "pub fn add(a: i32) i32 {\n    return a;\n}\n\nconst limit = 3;\n",
    "b.zig": "const x = add(1);\n",
  });
  const found = await call("code", "definition", { uri: "b.zig", position: { line: 0, col: 11 } });
  expect(found.meta.backend).toBe("heuristic");
  expect(found.data.results).toMatchObject([{ snippet: "pub fn add(a: i32) i32 {" }]);
  const outline = await call("code", "outline", { uri: "a.zig" });
  expect(names(outline.data.results)).toEqual(["add", "limit"]);
  const used = await call("code", "references", { uri: "a.zig", position: { line: 0, col: 8 } });
  expect(used.data.total).toBe(2);
});

test("words with the same prefix are offered where no server completes", async () => {
  const { call } = openFiles({ "a.ts": "const accountName = 1;\nconst accountAge = 2;\nacc\n" });
  const { data } = await call("code", "completion", { uri: "a.ts", position: { line: 2, col: 3 } });
  expect(data.results.map((one: { label: string }) => one.label)).toEqual(["accountName", "accountAge"]);
});

test("an id survives edits elsewhere in the file", async () => {
  const { call, roots } = openFiles({ "a.ts": "class Outer { inner() {} }\n" });
  const symbol_id = "sym:a.ts#Outer.inner";
  const where = async () => (await call("code", "definition", { symbol_id })).data.results[0].range.start;
  expect(await where()).toEqual({ line: 0, col: 14 });
  writeFileSync(join(roots[0]!, "a.ts"), "// new\n\nfunction before() {}\nclass Outer { inner() {} }\n");
  expect(await where()).toEqual({ line: 3, col: 14 });
});

test.each([
  [{ uri: "a.ts" }, "INVALID_ARGUMENT"],
  [{ position: { line: 0 } }, "INVALID_ARGUMENT"],
  [{ uri: "a.ts", position: { line: 9 } }, "INVALID_ARGUMENT"],
  [{ uri: "a.ts", position: { line: 0, col: 99 } }, "INVALID_ARGUMENT"],
  [{ uri: "gone.ts", position: { line: 0 } }, "NOT_FOUND"],
  [{ symbol_id: "sym:a.ts#gone" }, "NOT_FOUND"],
  [{ symbol_id: "sym:../x.ts#a" }, "OUTSIDE_WORKSPACE"],
  [{ uri: "binary.ts", position: { line: 0 } }, "NOT_TEXT"],
  [{ uri: "a.ts", position: { line: 0 }, cursor: "abc" }, "INVALID_CURSOR"],
] as const)("%j is refused with %s", async (input, code) => {
  const { call } = openFiles({ "a.ts": "const a = 1;\n", "binary.ts": "a\0b" });
  expect((await call("code", "definition", input)).error?.code).toBe(code);
});

test("columns count UTF-16 units, in answers of servers and parsers", async () => {
  const text = 'export const s = "😀"; export const after = s;\nexport const again = after;\n';
  for (const servers of [true, false]) {
    const { call } = openFiles({ "a.ts": text, "tsconfig.json": "{}" }, { servers });
    const { data } = await call("code", "definition", { uri: "a.ts", position: { line: 1, col: 22 } });
    expect(data.results).toMatchObject([
      { range: { start: { line: 0, col: 36 }, end: { line: 0, col: 41 } } },
    ]);
  }
});

test("results outside the workspace are counted, not shown", async () => {
  const { call } = openFiles({ "a.ts": "new Map();\n", "tsconfig.json": "{}" }, { servers: true });
  const { data } = await call("code", "definition", { uri: "a.ts", position: { line: 0, col: 5 } });
  expect(data.results).toEqual([]);
  expect(data.outside).toBeGreaterThan(0);
});

test("a rename into a protected file is refused as a whole", async () => {
  const config =
    '{ "compilerOptions": { "allowImportingTsExtensions": true, "noEmit": true }, "files": ["a.ts", ".vscode/b.ts"] }';
  const files = {
    "a.ts": "export const a = 1;\n",
    ".vscode/b.ts": 'import { a } from "../a.ts";\na;\n',
    "tsconfig.json": config,
  };
  const { call, roots } = openFiles(files, { servers: true });
  const { error } = await call("code", "rename", { symbol_id: "sym:a.ts#a", new_name: "b" });
  expect(error?.code).toBe("PROTECTED_PATH");
  expect(readFileSync(join(roots[0]!, "a.ts"), "utf8")).toBe(files["a.ts"]);
});

test("an edit returns the problems it introduced, and none that existed before", async () => {
  const before = 'const old: number = "wrong before";\nexport const n: number = 1;\n';
  const { call, roots, servers } = openFiles({ "a.ts": before, "tsconfig.json": "{}" }, { servers: true });
  const after = createDiagnosticsAfterEdit({ workspace: { confinement: createConfinement(roots) }, servers });
  const signal = new AbortController().signal;
  const { data } = await call("fs", "stat", { uri: "a.ts" });
  const edit = (from: string, to: string, base_hash: string) => async () =>
    (
      await call("fs", "apply_patch", {
        uri: "a.ts",
        base_hash,
        patch: [{ op: "replace", old: from, new: to }],
      })
    ).data;

  const cold = await after.around(["a.ts"], edit("number = 1", "number = 2", data.hash), signal);
  expect(cold.added).toBeUndefined();

  await call("code", "diagnostics", { uri: "a.ts" });
  const broken = await after.around(
    ["a.ts"],
    edit("number = 2", "number = 'x'", cold.result.files[0].hash),
    signal,
  );
  expect(broken.added).toMatchObject([{ severity: "error", code: "2322", range: { start: { line: 1 } } }]);
  const mended = await after.around(
    ["a.ts"],
    edit("number = 'x'", "number = 3", broken.result.files[0].hash),
    signal,
  );
  expect(mended.added).toEqual([]);
});

let shop: CodeProject;
beforeAll(() => {
  shop = openCodeProject([join(FIXTURES, "typescript"), join(FIXTURES, "go")]);
});
afterAll(() => shop[Symbol.asyncDispose]());

test("every position of a file can be queried without a bug", async () => {
  const files = [join(shop.roots[0]!, "src/basket.ts"), join(shop.roots[1]!, "shop/basket.go")];
  const Place = fc.constantFrom(...files).chain((uri) => {
    const lines = readFileSync(uri, "utf8").split("\n");
    return fc.nat({ max: lines.length - 1 }).chain((line) =>
      fc.record({
        uri: fc.constant(uri),
        line: fc.constant(line),
        col: fc.nat({ max: lines[line]!.length }),
      }),
    );
  });
  const Action = fc.constantFrom("definition", "references", "hover", "completion", "calls");
  await fc.assert(
    fc.asyncProperty(Action, Place, async (action, { uri, line, col }) => {
      const { error } = await shop.call("code", action, { uri, position: { line, col } });
      expect(error).toBeNull();
    }),
    { numRuns: RUNS },
  );
});

test("calls are found in both directions", async () => {
  const uri = join(shop.roots[0]!, "src/basket.ts");
  const position = positionOf(uri, "total()");
  const incoming = await shop.call("code", "calls", { uri, position });
  expect(names(incoming.data.results)).toEqual(["checkout"]);
  const outgoing = await shop.call("code", "calls", { uri, position, direction: "outgoing" });
  expect(names(outgoing.data.results)).toEqual(["roundCents"]);
  expect(outgoing.data.results[0].calls).toHaveLength(1);
});

test("status lists the servers", async () => {
  const { data } = await shop.call("code", "status", {});
  expect(data.backends).toContainEqual(expect.objectContaining({ name: "lsp:typescript", available: true }));
  expect(data.backends).toContainEqual(expect.objectContaining({ name: "tree-sitter", available: true }));
});
