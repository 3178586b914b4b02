import { mkdirSync, symlinkSync } from "node:fs";
import { basename, join } from "node:path";
import { expect, inject, test } from "vitest";
import { linkPackages } from "./code-project.ts";
import { createPerson, writeFiles } from "./front-door.ts";

/** Each test is a person's first call to a server without any state. */
async function openProject(
  files: Readonly<Record<string, string>>,
  prepare: (root: string) => void = () => {},
) {
  const person = await createPerson();
  const root = join(person.folder, "project");
  writeFiles(root, files);
  prepare(root);
  const server = await person.serve(root);
  return {
    ...server,
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      await person[Symbol.asyncDispose]();
    },
  };
}

/** Like hono: the tests are a separate project, which TypeScript loads only for an open file. */
const options = { composite: true, strict: true, module: "nodenext", target: "es2022", types: [] };
const REFERENCES = {
  "package.json": JSON.stringify({ name: "sums", type: "module", devDependencies: { typescript: "^5" } }),
  "tsconfig.json": JSON.stringify({
    files: [],
    references: [{ path: "./tsconfig.build.json" }, { path: "./tsconfig.spec.json" }],
  }),
  "tsconfig.build.json": JSON.stringify({
    compilerOptions: { ...options, rootDir: "src", outDir: "dist" },
    include: ["src"],
    exclude: ["src/*.test.ts"],
  }),
  "tsconfig.spec.json": JSON.stringify({
    compilerOptions: { ...options, noEmit: true },
    include: ["src"],
  }),
  "src/add.ts": "export const add = (a: number, b: number): number => a + b;\n",
  "src/main.ts": 'import { add } from "./add.js";\nexport const three = add(1, 2);\n',
  "src/add.test.ts": 'import { add } from "./add.js";\nif (add(1, 2) !== 3) throw new Error("wrong");\n',
};

function linkTypeScript5(root: string): void {
  mkdirSync(join(root, "node_modules"));
  symlinkSync(
    join(import.meta.dirname, "../node_modules/typescript-5"),
    join(root, "node_modules/typescript"),
  );
}

test("a project with TypeScript 5 gets types, complete renames to identifiers only, and diagnostics after an edit", async () => {
  await using project = await openProject(REFERENCES, linkTypeScript5);
  const symbol_id = "sym:src/add.ts#add";
  for (const new_name of ['y;import("fs")//', "class", "two words", "1st", ""]) {
    const { error } = await project.call("code.rename", { symbol_id, new_name });
    expect(error).toMatchObject({ code: "INVALID_ARGUMENT", details: { issues: [{ path: "new_name" }] } });
  }
  const renamed = await project.call("code.rename", { symbol_id, new_name: "sum" });
  expect(renamed.meta.backend).toBe("typescript-language-server");
  expect(renamed.data.files.map(({ uri }: { uri: string }) => basename(uri)).sort()).toEqual([
    "add.test.ts",
    "add.ts",
    "main.ts",
  ]);
  const found = await project.call("code.diagnostics", { uri: "src/main.ts" });
  expect(found.data).toEqual({ results: [], total: 0, checked: "all" });

  const { hash } = (await project.call("fs.stat", { uri: "src/main.ts" })).data;
  const patch = [{ op: "replace", old: "sum(1, 2)", new: 'sum(1, "2")' }];
  const edited = await project.call("fs.apply_patch", { uri: "src/main.ts", base_hash: hash, patch });
  expect(edited.data.diagnostics).toMatchObject([{ severity: "error", code: "2345" }]);
});

test("a rename includes tests of another project and the importers of a re-export, and causes no new problems", async () => {
  const { "src/add.ts": _add, "src/main.ts": _main, "src/add.test.ts": _test, ...settings } = REFERENCES;
  await using project = await openProject(
    {
      ...settings,
      "src/context.ts": "export class Context {}\n",
      "src/index.ts": 'export { Context } from "./context.js";\n',
      "src/through.ts": 'import { Context } from "./index.js";\nexport const one = new Context();\n',
      "src/context.test.ts": 'import type { Context } from "./context.js";\nexport type Tested = Context;\n',
      "src/box.ts": "export class Box {\n  Context() {\n    return 1;\n  }\n}\n",
    },
    linkTypeScript5,
  );
  const found = await project.call("code.search_symbol", { query: "Context", limit: 2 });
  const symbols = found.data.results.map(({ symbol_id }: { symbol_id: string }) => symbol_id);
  expect(symbols).toEqual(["sym:src/context.ts#Context", "sym:src/box.ts#Box.Context"]);

  const renamed = await project.call("code.rename", { symbol_id: symbols[0], new_name: "Ctx" });
  expect(renamed.error).toBe(null);
  expect(renamed.data.files.map(({ uri }: { uri: string }) => basename(uri)).sort()).toEqual([
    "context.test.ts",
    "context.ts",
    "index.ts",
    "through.ts",
  ]);
  expect(renamed.data.patch).toContain('+export { Ctx } from "./context.js";');
  expect(renamed.data.note).toMatch(/src\/index\.ts exports the new name/);
  expect(renamed.data.diagnostics).toEqual([]);
  for (const file of ["src/through.ts", "src/context.test.ts"])
    expect((await project.call("code.diagnostics", { uri: file })).data.results).toEqual([]);
});

const RUBY = {
  "lib/greeter.rb": "class Greeter\n  def greet(name)\n    name\n  end\nend\n",
  "main.rb": "require 'greeter'\nGreeter.new.greet('you')\n",
};

test("code.search_symbol finds existing symbols at the first call, and new ones right after an edit", async () => {
  await using project = await openProject(RUBY);
  const { ok, data } = await project.call("code.search_symbol", { query: "greet" });
  expect(ok).toBe(true);
  expect(data.results.map(({ symbol_id }: { symbol_id: string }) => symbol_id)).toEqual([
    "sym:lib/greeter.rb#Greeter.greet",
    "sym:lib/greeter.rb#Greeter",
  ]);
  // From the index, and before it has heard of the change.
  expect(await project.call("search.index", {})).toMatchObject({ ok: true });
  writeFiles(project.root, {
    "lib/greeter.rb": RUBY["lib/greeter.rb"].replaceAll(/greet(?=\()/g, "greeting"),
  });
  const later = await project.call("code.search_symbol", { query: "greet" });
  expect(later.data.results.map(({ symbol_id }: { symbol_id: string }) => symbol_id)).toEqual([
    "sym:lib/greeter.rb#Greeter",
    "sym:lib/greeter.rb#Greeter.greeting",
  ]);
});

test("without a language server the first code.definition finds another file, and only the syntax is checked", async () => {
  await using project = await openProject({ ...RUBY, "broken.rb": "def f(\n" });
  const input = { uri: "main.rb", position: { line: 1, col: 0 } };
  const { data, meta } = await project.call("code.definition", input);
  expect(meta.backend).toBe("tree-sitter");
  expect(data.results).toMatchObject([{ symbol_id: "sym:lib/greeter.rb#Greeter" }]);
  const checked = (await project.call("code.diagnostics", { uri: "broken.rb" })).data;
  expect(checked).toMatchObject({ checked: "syntax", note: expect.stringContaining("language_servers") });
  expect(checked.total).toBeGreaterThan(0);
});

test("TypeScript does not download type declarations for a project without settings, so its answers are complete", async () => {
  await using project = await openProject({
    "package.json": '{ "name": "sums", "dependencies": { "lodash": "4" } }\n',
    "src/add.js": "export const add = (a, b) => a + b;\n",
    "src/main.js": 'import { add } from "./add.js";\nexport const three = add(1, 2);\n',
  });
  const symbol_id = "sym:src/add.js#add";
  await project.call("code.definition", { symbol_id });
  const { data, meta } = await project.call("code.references", { symbol_id });
  expect(meta.backend).toBe("typescript");
  expect(data).toMatchObject({ total: 3 });
  expect(data.incomplete).toBeUndefined();
});

test("an unparsable file blocks nothing and is named", async () => {
  const source = "class Fine\nend\n";
  await using project = await openProject({ "bad.rb": `# Fine\n${"(".repeat(200_000)}`, "fine.rb": source });
  const slow = project.call("code.outline", { uri: "bad.rb" });
  const ast = project.call("code.search_ast", { pattern: "class $A\nend", language: "ruby" });
  const read = project.call("fs.read", { uri: "fine.rb" });
  expect(await Promise.race([read, slow])).toBe(await read);
  expect((await read).data.text).toBe(source);
  expect((await slow).error).toMatchObject({ code: "TIMEOUT" });
  expect((await ast).data.results).toMatchObject([{ captures: { A: "Fine" } }]);
  const found = await project.call("code.search_symbol", { query: "Fine" });
  expect(found.data).toMatchObject({
    results: [{ name: "Fine" }],
    unparsed: [`file://${project.root}/bad.rb`],
  });
  const asked = await project.call("search.query", { query: "who calls Fine?" });
  expect(asked.data.unparsed).toEqual([`file://${project.root}/bad.rb`]);
  // The index remembers it.
  expect(await project.call("search.index", {})).toMatchObject({ ok: true });
  const again = await project.call("code.search_symbol", { query: "Fine" });
  expect(again.data).toEqual(found.data);
});

test("uses of a Python function are found in all files, also where Pyright's settings name only src", async () => {
  const user = "from sums.add import add\nthree = add(1, 2)\n";
  // More than are opened for the server, which must list the rest by itself before it answers.
  const users = Array.from({ length: 40 }, (_, n) => [`src/sums/user_${n}.py`, user] as const);
  const files = {
    "pyproject.toml": '[tool.pyright]\ninclude = ["src"]\n',
    "src/sums/__init__.py": "",
    "src/sums/add.py": "def add(a: int, b: int) -> int:\n    return a + b\n",
    "tests/test_add.py": user,
    ...Object.fromEntries(users),
  };
  await using project = await openProject(files, (root) => linkPackages(root, { pyright: "pyright" }));
  const { data, meta } = await project.call("code.references", {
    symbol_id: "sym:src/sums/add.py#add",
    limit: 200,
  });
  const found = new Set(data.results.map(({ uri }: { uri: string }) => basename(uri)));
  expect({
    backend: meta.backend,
    files: found.size,
    total: data.total,
    incomplete: data.incomplete,
  }).toEqual({
    backend: "pyright",
    files: 42,
    total: 83,
    incomplete: undefined,
  });
  expect(found).toContain("test_add.py");
});

const hasGo = !inject("missing").some((name) => name === "gopls" || name === "golang-go");
test.skipIf(!hasGo)("a Go file is not reported as correct when gopls cannot load its module", async () => {
  await using project = await openProject({
    "go.mod": "module sums\n\ngo one.two\n",
    "sums.go": "package sums\n\nfunc Add(a, b int) string { return a + b }\n",
  });
  const { data } = await project.call("code.diagnostics", { uri: "sums.go" });
  expect(data).toMatchObject({
    total: 0,
    checked: "syntax",
    note: expect.stringContaining("gopls cannot load the project"),
  });
  const { error } = await project.call("code.rename", { symbol_id: "sym:sums.go#Add", new_name: "Sum" });
  expect(error).toMatchObject({ code: "UPSTREAM_ERROR", message: expect.stringContaining("go.mod") });
});
