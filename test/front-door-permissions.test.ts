import { execFileSync } from "node:child_process";
import { linkSync, rmSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { expect, test } from "vitest";
import { createPerson, writeFiles } from "./front-door.ts";

const git = (cwd: string, ...args: string[]) =>
  execFileSync("git", ["-c", "user.name=t", "-c", "user.email=t@example.com", ...args], { cwd });

test("a deny rule by path hides its files and their hard links in git's output, and says so", async () => {
  await using person = await createPerson();
  const root = join(person.folder, "project");
  writeFiles(root, { "src/a.txt": "open\n", "secrets/key.txt": "hidden one\n", "plain.txt": "plain\n" });
  const rule = { tool_pattern: "*", mode: "deny", args: { path: "secrets/**" } };
  writeFiles(person.home, { ".config/hanzo/settings.json": JSON.stringify({ permissions: [rule] }) });
  git(root, "init", "-q");
  git(root, "add", ".");
  git(root, "commit", "-qm", "first");
  writeFileSync(join(root, "secrets/key.txt"), "hidden two\n");
  writeFileSync(join(root, "src/a.txt"), "open two\n");
  linkSync(join(root, "secrets/key.txt"), join(root, "src/other-name.txt"));
  linkSync(join(root, "plain.txt"), join(root, "src/plain-again.txt"));

  await using server = await person.serve(root);
  for (const [action, input] of [
    ["vcs.diff", { path: "secrets" }],
    ["vcs.diff", { path: "secrets/key.txt" }],
    ["vcs.show", { ref: "HEAD:secrets/key.txt" }],
    ["vcs.show", { path: "secrets/key.txt" }],
    ["fs.read", { uri: "src/other-name.txt" }],
    ["fs.search_text", { pattern: "hidden", path: "secrets" }],
    ["search.query", { query: "hidden", scope: "secrets" }],
  ] as const) {
    const answer = await server.call(action, input);
    expect(answer.error, `${action} ${JSON.stringify(input)}`).toMatchObject({ code: "PERMISSION_DENIED" });
    expect(JSON.stringify(answer)).not.toContain("hidden");
  }
  for (const [action, input, shown] of [
    ["vcs.diff", {}, ["src/a.txt"]],
    ["vcs.diff", { ref: "HEAD", limit: 1 }, ["src/a.txt"]],
    ["vcs.show", {}, ["plain.txt", "src/a.txt"]],
    ["vcs.diff", { staged: true }, ["src/new.txt"]],
  ] as const) {
    if ("staged" in input) {
      writeFileSync(join(root, "src/new.txt"), "new\n");
      git(root, "add", "src/new.txt", "src/other-name.txt");
    }
    const answer = await server.call(action, input);
    const toUris = (names: readonly string[]) => names.map((name) => `file://${root}/${name}`);
    expect(answer.data.files.map(({ uri }: { uri: string }) => uri)).toEqual(toUris(shown));
    expect(answer.meta.left_out, `${action} ${JSON.stringify(input)}`).toBeDefined();
    expect(JSON.stringify([answer.data, answer.error])).not.toMatch(/hidden|key\.txt|other-name/);
  }
  expect((await server.call("vcs.diff", { path: "src/a.txt" })).data.patch).toContain("open two");
  expect((await server.call("vcs.show", { ref: "HEAD:src/a.txt" })).data.text).toBe("open\n");
  expect((await server.call("fs.read", { uri: "src/plain-again.txt" })).data.text).toBe("plain\n");
});

test("a search leaves out the files of a deny rule, says so, and does not reveal whether they match", async () => {
  await using person = await createPerson();
  const root = join(person.folder, "project");
  writeFiles(root, {
    "src/a.ts": "export const shared_word = 1;\n",
    "secrets/key.ts": "export const shared_word = 'hunter2'; // hunter2\n",
  });
  linkSync(join(root, "secrets/key.ts"), join(root, "src/other-name.ts"));
  const rule = { tool_pattern: "*", mode: "deny", args: { path: "secrets/**" } };
  writeFiles(person.home, { ".config/hanzo/settings.json": JSON.stringify({ permissions: [rule] }) });
  await using server = await person.serve(root);
  const left_out = `rule 'deny * {"path":"secrets/**"}' of the user settings`;

  const modalities = ["auto", "text", "ast", "symbol", "vector", "file"];
  for (const pattern of ["shared_word", "hunter2"]) {
    const found = pattern === "shared_word" ? [`file://${root}/src/a.ts`] : [];
    const searched = await server.call("fs.search_text", { pattern });
    expect(searched.data).toMatchObject({ count: found.length, total: found.length, left_out });
    expect(searched.data.matches.map(({ uri }: { uri: string }) => uri)).toEqual(found);
    for (const modality of modalities) {
      const query = modality === "file" ? "key.ts" : pattern;
      const answer = await server.call("search.query", { query, modality });
      expect(answer.data.left_out, modality).toBe(left_out);
      expect(JSON.stringify(answer.data.hits), modality).not.toMatch(/hunter2|secrets|other-name/);
    }
  }
  for (const [action, input] of [
    ["code.search_symbol", { query: "shared_word" }],
    ["code.search_ast", { pattern: "export const $N = $V" }],
  ] as const) {
    const { data } = await server.call(action, input);
    expect(data.left_out, action).toBe(left_out);
    expect(data.results.map(({ uri }: { uri: string }) => uri)).toEqual([`file://${root}/src/a.ts`]);
  }
  const asked = await server.call("search.query", { query: "shared_word" });
  expect(asked.data.hits[0]).toMatchObject({ uri: `file://${root}/src/a.ts` });
});

test("with one of two roots removed, a search covers the other and names the missing one", async () => {
  await using person = await createPerson();
  const [kept, gone] = [join(person.folder, "kept"), join(person.folder, "gone")];
  writeFiles(kept, { "a.ts": "export const needle = 1;\n" });
  writeFiles(gone, { "b.ts": "export const needle = 2;\n" });
  await using server = await person.serve(kept, { env: { OCTANT_ROOT: [gone, kept].join(delimiter) } });
  expect((await server.call("fs.search_text", { pattern: "needle" })).data.count).toBe(2);
  rmSync(gone, { recursive: true });

  const missing_roots = [`file://${gone}`];
  for (const [action, input, list] of [
    ["fs.search_text", { pattern: "needle" }, "matches"],
    ["code.search_symbol", { query: "needle" }, "results"],
    ["code.search_ast", { pattern: "export const $N = $V" }, "results"],
    ["search.query", { query: "needle", modality: "text" }, "hits"],
  ] as const) {
    const { data, error } = await server.call(action, input);
    expect({ error, missing_roots: data?.missing_roots }, action).toEqual({ error: null, missing_roots });
    const uris = new Set(data[list].map(({ uri }: { uri: string }) => uri));
    expect(uris).toEqual(new Set([`file://${kept}/a.ts`]));
  }
  rmSync(kept, { recursive: true });
  for (const action of ["fs.search_text", "search.query"]) {
    const { error } = await server.call(action, {
      [action === "search.query" ? "query" : "pattern"]: "needle",
    });
    expect(error, action).toMatchObject({ code: "NOT_FOUND", message: /every workspace root/ });
  }
});

test("a tool name in the settings that this version does not have is ignored", async () => {
  await using person = await createPerson();
  const root = join(person.folder, "project");
  writeFiles(root, { ".hanzo/settings.json": '{ "tools": ["fs", "no-such-tool"] }', "a.txt": "a\n" });
  await using server = await person.serve(root);
  expect((await server.call("fs.read", { uri: "a.txt" })).data.text).toBe("a\n");
});
