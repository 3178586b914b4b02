import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { expect, test } from "vitest";
import { git, openHub } from "../../testing/open-hub.ts";
import { createRunGit, withoutCredentials } from "./git-repository.ts";

async function openProject(settings: object = {}) {
  const opened = await openHub();
  const source = opened.createSource();
  const { project_id } = await opened.get<{ project_id: string }>("project.create", {
    name: "demo",
    folder: source,
    ...settings,
  });
  const workspace = await opened.get<{ workspace_id: string; branch: string }>("workspace.create", {
    project_id,
    name: "work",
  });
  const place = join(opened.hub.workspaces.folderOf(project_id), workspace.workspace_id);
  const commit = (file: string, text: string) => {
    writeFileSync(join(place, file), text);
    git(place, "add", "-A");
    git(place, "commit", "-qm", `Change ${file}`);
  };
  return { ...opened, ...workspace, source, project_id, place, commit };
}

test("a workspace's commits are shown, merged and pushed to the folder they came from", async () => {
  const { get, workspace_id, source, commit } = await openProject();
  commit("b.txt", "two\n");
  const diff = await get<{ patch: string; commits: string[] }>("workspace.diff", { workspace_id });
  expect(diff.patch).toContain("+two");
  expect(diff.commits).toEqual([expect.stringContaining("Change b.txt")]);
  expect(await get("workspace.merge", { workspace_id })).toMatchObject({
    merged: true,
    into: "main",
    pushed: true,
  });
  expect(git(source, "log", "--format=%s", "--first-parent")).toBe("Merge octant/work\nFirst\n");
  expect(readFileSync(join(source, "b.txt"), "utf8")).toBe("two\n");
});

test("a conflict names the files and merges nothing", async () => {
  const { get, workspace_id, source, commit } = await openProject();
  commit("a.txt", "ours\n");
  writeFileSync(join(source, "a.txt"), "theirs\n");
  git(source, "commit", "-qam", "Theirs");
  expect(await get("workspace.merge", { workspace_id })).toMatchObject({
    merged: false,
    conflicts: ["a.txt"],
  });
  expect(git(source, "log", "-1", "--format=%s")).toBe("Theirs\n");
});

test("after a conflict the workspace has the project's branch, merges it, and its own work alone is shown", async () => {
  const { get, call, project_id, workspace_id, source, place, commit } = await openProject({
    protected_paths: ["*.lock"],
  });
  commit("a.txt", "ours\n");
  // Others may change what sessions must not.
  writeFileSync(join(source, "a.txt"), "theirs\n");
  writeFileSync(join(source, "yarn.lock"), "1\n");
  git(source, "add", "-A");
  git(source, "commit", "-qm", "Theirs");
  expect(await get("workspace.merge", { workspace_id })).toMatchObject({
    merged: false,
    note: expect.stringContaining("session.message can ask its session to merge that"),
  });
  const exec = await get<{ exit_code: number }>("container.exec", {
    project_id,
    workspace_id,
    command:
      "git merge -q origin/main; printf 'both\\n' > a.txt; git add -A; git commit -qm 'Merge the branch'",
  });
  expect(exec).toMatchObject({ exit_code: 0 });
  const { patch, commits } = await get<{ patch: string; commits: string[] }>("workspace.diff", {
    workspace_id,
  });
  expect(patch).not.toContain("yarn.lock");
  expect(commits).toHaveLength(2);
  expect(await get("workspace.merge", { workspace_id })).toMatchObject({ merged: true, pushed: true });
  expect(readFileSync(join(source, "a.txt"), "utf8")).toBe("both\n");
  git(place, "rm", "-q", "yarn.lock");
  git(place, "commit", "-qm", "Remove the lock");
  expect((await call("workspace.merge", { workspace_id })).error).toMatchObject({ code: "PROTECTED_PATH" });
});

test("files in no commit are named, and a workspace without commits is not merged", async () => {
  const { get, workspace_id, place, commit } = await openProject();
  writeFileSync(join(place, "new.txt"), "x\n");
  const note = expect.stringContaining("1 file of the workspace is in no commit");
  expect(await get("workspace.diff", { workspace_id })).toMatchObject({ patch: "", note });
  expect(await get("workspace.merge", { workspace_id })).toMatchObject({
    merged: false,
    pushed: false,
    note,
  });
  commit("b.txt", "two\n");
  writeFileSync(join(place, "later.txt"), "x\n");
  expect(await get("workspace.merge", { workspace_id })).toMatchObject({ merged: true, pushed: true, note });
});

test.each([
  ["https://user:hunter2@host/x.git", "https://host/x.git"],
  ["error: http://user:p@ss@h:80/x, and ssh://git@h/y", "error: http://h:80/x, and ssh://h/y"],
  ["a line without one, mail me@example.com", "a line without one, mail me@example.com"],
])("git's message %s is shown without credentials", (said, shown) => {
  expect(withoutCredentials(said)).toBe(shown);
});

/** A read-only repository over plain HTTP. */
async function serveRepository(source: string) {
  const bare = `${source}.git`;
  git(source, "clone", "-q", "--bare", source, bare);
  git(bare, "update-server-info");
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? "/", "http://x");
    const file = join(bare, pathname.replace("/demo.git", ""));
    const isThere = request.method === "GET" && existsSync(file) && statSync(file).isFile();
    response.writeHead(isThere ? 200 : 404).end(isThere ? readFileSync(file) : "");
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return { port, [Symbol.dispose]: () => void server.close() };
}

test("a refused push is told without the password of the source", async () => {
  const { get, hub, createSource } = await openHub();
  using server = await serveRepository(createSource());
  const source_url = `http://user:hunter2@127.0.0.1:${server.port}/demo.git`;
  const { project_id } = await get<{ project_id: string }>("project.create", { name: "far", source_url });
  const { workspace_id } = await get<{ workspace_id: string }>("workspace.create", { project_id });
  const place = join(hub.workspaces.folderOf(project_id), workspace_id);
  writeFileSync(join(place, "b.txt"), "two\n");
  git(place, "add", "-A");
  git(place, "commit", "-qm", "Change it");
  const merged = await get<{ warning: string }>("workspace.merge", { workspace_id });
  expect(merged.warning).toContain(`127.0.0.1:${server.port}/demo.git`);
  expect(merged.warning).not.toContain("hunter2");
});

test("a source with uncommitted changes keeps them, and the answer says that nothing was pushed", async () => {
  const { get, workspace_id, source, commit } = await openProject();
  commit("a.txt", "ours\n");
  writeFileSync(join(source, "a.txt"), "unsaved\n");
  const merged = await get("workspace.merge", { workspace_id });
  expect(merged).toMatchObject({
    merged: true,
    pushed: false,
    warning: expect.stringContaining("unstaged changes"),
  });
  expect(readFileSync(join(source, "a.txt"), "utf8")).toBe("unsaved\n");
});

test("protected paths are not merged", async () => {
  const { call, workspace_id, commit } = await openProject({ protected_paths: ["secret/**", "*.lock"] });
  commit("yarn.lock", "x\n");
  expect((await call("workspace.merge", { workspace_id })).error).toMatchObject({
    code: "PROTECTED_PATH",
    details: { uri: "yarn.lock", rule: "*.lock" },
  });
});

test("a workspace with commits of its own is deleted only by force, and one without at once", async () => {
  const { call, get, project_id, workspace_id, place, commit } = await openProject();
  const { workspace_id: other } = await get<{ workspace_id: string }>("workspace.create", { project_id });
  await get("workspace.delete", { workspace_id: other });
  commit("b.txt", "two\n");
  expect((await call("workspace.delete", { workspace_id })).error).toMatchObject({
    code: "CONFIRM_REQUIRED",
    message: expect.stringContaining("1 commit that no branch has"),
  });
  writeFileSync(join(place, "c.txt"), "not committed\n");
  expect((await call("workspace.delete", { workspace_id })).error?.message).toContain(
    "1 file that no commit has",
  );
  expect((await call("project.delete", { project_id })).error?.code).toBe("CONFIRM_REQUIRED");
  expect(existsSync(place)).toBe(true);
  await get("workspace.delete", { workspace_id, force: true });
  expect(existsSync(place)).toBe(false);
  await get("project.delete", { project_id });
  expect(await get("project.list")).toEqual({ projects: [] });
});

test("git settings that a container writes into its workspace do not run in the hub", async () => {
  const { get, workspace_id, place, commit, folder } = await openProject();
  const mark = join(folder, "escaped");
  commit("b.txt", "two\n");
  for (const [key, value] of [
    ["core.fsmonitor", `touch ${mark}`],
    ["core.hooksPath", place],
    ["uploadpack.packObjectsHook", `touch ${mark}`],
    ["diff.external", `touch ${mark}`],
  ] as const)
    git(place, "config", key, value);
  // git in the container may run these; here it is the test's own git.
  git(place, "config", "--unset", "core.fsmonitor");
  await get("workspace.diff", { workspace_id });
  await get("workspace.merge", { workspace_id });
  expect(existsSync(mark)).toBe(false);
});

test("hooks that a merge brings into the source's folder do not run", async () => {
  const { get, workspace_id, source, place, commit, folder } = await openProject();
  const mark = join(folder, "escaped");
  git(source, "config", "core.hooksPath", join(source, ".githooks"));
  mkdirSync(join(place, ".githooks"));
  for (const hook of ["post-update", "post-receive", "reference-transaction"])
    writeFileSync(join(place, ".githooks", hook), `#!/bin/sh\ntouch ${mark}\n`, { mode: 0o755 });
  commit("b.txt", "two\n");
  expect(await get("workspace.merge", { workspace_id })).toMatchObject({ merged: true, pushed: true });
  expect(existsSync(join(source, ".githooks/post-update"))).toBe(true);
  expect(existsSync(mark)).toBe(false);
});

test("an empty project and one that cannot be cloned", async () => {
  const { call, get } = await openHub();
  const { project_id } = await get<{ project_id: string }>("project.create", { name: "empty" });
  expect(await get("workspace.create", { project_id })).toMatchObject({ project_id });
  const refused = await call("project.create", {
    name: "gone",
    source_url: "file:///nonexistent/repository",
  });
  expect(refused.error).toMatchObject({ code: "VCS_ERROR" });
  expect(await get<{ projects: object[] }>("project.list")).toMatchObject({ projects: [{ name: "empty" }] });
});

test("git of the hub starts no program that a URL names", async () => {
  const git = createRunGit({ PATH: process.env.PATH })(undefined);
  await expect(git(["ls-remote", "--", "ext::sh -c 'touch /tmp/escaped'"])).rejects.toThrow(
    "'ext' not allowed",
  );
});

test("a source that is not a git URL is refused, and the answer shows one", async () => {
  const { call } = await openHub();
  const evil = ["--upload-pack=touch /tmp/x", "-u", "ext::sh -c 'touch /tmp/x'", "-oProxyCommand=id@host:x"];
  for (const source_url of [...evil, "relative/path", "/etc", "", "https://example.com/a\nb"])
    expect((await call("project.create", { name: "x", source_url })).error, source_url).toMatchObject({
      code: "INVALID_ARGUMENT",
      message: expect.stringContaining("a git URL, such as https://example.com/demo.git"),
    });
});

test("a folder that cannot be a source is refused with what to do", async () => {
  const { call, folder } = await openHub();
  const create = async (place: string) => (await call("project.create", { name: "x", folder: place })).error;
  expect(await create("relative")).toMatchObject({
    code: "INVALID_ARGUMENT",
    message: expect.stringContaining("an absolute path on the hub's machine"),
  });
  expect(await create("/nonexistent/place")).toMatchObject({ code: "NOT_FOUND" });
  const plain = join(folder, "plain");
  mkdirSync(plain);
  expect(await create(plain)).toMatchObject({
    code: "NOT_A_REPOSITORY",
    message: expect.stringContaining("run git init, git add and git commit there first"),
  });
  writeFileSync(join(plain, "a.txt"), "one\n");
  expect(await create(join(plain, "a.txt"))).toMatchObject({ code: "NOT_A_DIRECTORY" });
  git(plain, "init", "-q");
  expect(await create(plain)).toMatchObject({
    code: "VCS_ERROR",
    message: expect.stringContaining("has no commits yet; commit something there first"),
  });
  expect((await call("project.list")).data).toEqual({ projects: [] });
});
