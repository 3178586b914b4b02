import { execFileSync } from "node:child_process";
import { linkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createPerson, writeFiles } from "./front-door.ts";

const git = (cwd: string, ...args: string[]) =>
  execFileSync("git", ["-c", "user.name=t", "-c", "user.email=t@example.com", ...args], { cwd });

test("a deny rule by path leaves its files and their hard links out of what git shows, by name", async () => {
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
    ["fs.search_text", { pattern: "hidden", path: "src" }],
    ["search.query", { query: "hidden", scope: "src" }],
  ] as const) {
    const answer = await server.call(action, input);
    expect(answer.error, `${action} ${JSON.stringify(input)}`).toMatchObject({ code: "PERMISSION_DENIED" });
    expect(JSON.stringify(answer)).not.toContain("hidden");
  }
  for (const [action, input, shown, hidden] of [
    ["vcs.diff", {}, ["src/a.txt"], ["secrets/key.txt"]],
    ["vcs.diff", { ref: "HEAD", limit: 1 }, ["src/a.txt"], ["secrets/key.txt"]],
    ["vcs.show", {}, ["plain.txt", "src/a.txt"], ["secrets/key.txt"]],
    ["vcs.diff", { staged: true }, ["src/new.txt"], ["src/other-name.txt"]],
  ] as const) {
    if ("staged" in input) {
      writeFileSync(join(root, "src/new.txt"), "new\n");
      git(root, "add", "src/new.txt", "src/other-name.txt");
    }
    const answer = await server.call(action, input);
    const toUris = (names: readonly string[]) => names.map((name) => `file://${root}/${name}`);
    expect(answer.data.files.map(({ uri }: { uri: string }) => uri)).toEqual(toUris(shown));
    expect(answer.data.left_out, `${action} ${JSON.stringify(input)}`).toEqual(toUris(hidden));
    expect(JSON.stringify(answer)).not.toContain("hidden");
  }
  expect((await server.call("vcs.diff", { path: "src/a.txt" })).data.patch).toContain("open two");
  expect((await server.call("vcs.show", { ref: "HEAD:src/a.txt" })).data.text).toBe("open\n");
  expect((await server.call("fs.read", { uri: "src/plain-again.txt" })).data.text).toBe("plain\n");
});

test("a tool name in the settings that this version does not have is ignored", async () => {
  await using person = await createPerson();
  const root = join(person.folder, "project");
  writeFiles(root, { ".hanzo/settings.json": '{ "tools": ["fs", "no-such-tool"] }', "a.txt": "a\n" });
  await using server = await person.serve(root);
  expect((await server.call("fs.read", { uri: "a.txt" })).data.text).toBe("a\n");
});
