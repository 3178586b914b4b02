import { join } from "node:path";
import { expect, test } from "vitest";
import { createPerson, writeFiles } from "./front-door.ts";

/** Each test is a person's first call to a server without any state. */
async function openProject(files: Readonly<Record<string, string>>) {
  const person = await createPerson();
  const root = join(person.folder, "project");
  writeFiles(root, files);
  const server = await person.serve(root);
  return {
    ...server,
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      await person[Symbol.asyncDispose]();
    },
  };
}

const RUBY = {
  "lib/greeter.rb": "class Greeter\n  def greet(name)\n    name\n  end\nend\n",
  "main.rb": "require 'greeter'\nGreeter.new.greet('you')\n",
};

test("the first code.search_symbol of a workspace finds what is there", async () => {
  await using project = await openProject(RUBY);
  const { ok, data } = await project.call("code.search_symbol", { query: "greet" });
  expect(ok).toBe(true);
  expect(data.results.map(({ symbol_id }: { symbol_id: string }) => symbol_id)).toEqual([
    "sym:lib/greeter.rb#Greeter.greet",
    "sym:lib/greeter.rb#Greeter",
  ]);
});

test("the first code.definition without a language server finds another file", async () => {
  await using project = await openProject(RUBY);
  const input = { uri: "main.rb", position: { line: 1, col: 0 } };
  const { data, meta } = await project.call("code.definition", input);
  expect(meta.backend).toBe("tree-sitter");
  expect(data.results).toMatchObject([{ symbol_id: "sym:lib/greeter.rb#Greeter" }]);
});

test("a file that no parser can cope with holds up nobody and is named", async () => {
  const source = "class Fine\nend\n";
  await using project = await openProject({ "bad.rb": `# Fine\n${"(".repeat(200_000)}`, "fine.rb": source });
  const slow = project.call("code.outline", { uri: "bad.rb" });
  const ast = project.call("code.search_ast", { pattern: "class $A\nend", language: "ruby" });
  const started = performance.now();
  expect((await project.call("fs.read", { uri: "fine.rb" })).data.text).toBe(source);
  expect(performance.now() - started).toBeLessThan(4_000);
  expect((await slow).error).toMatchObject({ code: "TIMEOUT" });
  expect((await ast).data.results).toMatchObject([{ captures: { A: "Fine" } }]);
  const found = await project.call("code.search_symbol", { query: "Fine" });
  expect(found.data).toMatchObject({
    results: [{ name: "Fine" }],
    unparsed: [`file://${project.root}/bad.rb`],
  });
});
