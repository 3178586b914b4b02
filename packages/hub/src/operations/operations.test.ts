import { randomBytes } from "node:crypto";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { git, openHub } from "../../testing/open-hub.ts";
import type { Project } from "../projects/project.ts";
import { backUpHub, restoreHub } from "./backup.ts";

const newFolder = () => {
  const folder = mkdtempSync(join(tmpdir(), "octant-hub-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
};

test("a second hub on the same folder is refused, and may start when the first has ended", async () => {
  const folder = newFolder();
  const { hub } = await openHub({ folder });
  await expect(openHub({ folder })).rejects.toMatchObject({
    code: "LOCKED",
    message: expect.stringContaining("another hub runs on"),
  });
  await hub[Symbol.asyncDispose]();
  await (await openHub({ folder })).get("project.list");
});

test("other users cannot read the database of a hub, even in a folder that they can read", async () => {
  const folder = newFolder();
  mkdirSync(join(folder, "hub"), { mode: 0o755 });
  const { get } = await openHub({ folder });
  await get("project.create", { name: "demo", secrets: { KEY: "value" } });
  for (const name of ["hub.db", "hub.db-wal", "hub.db-shm"])
    expect(statSync(join(folder, "hub", name)).mode & 0o777, name).toBe(0o600);
});

test("a backup of a running hub is restored with its projects, commits, files and events", async () => {
  const { get, folder, hub, createSource } = await openHub();
  const source = createSource();
  const { project_id } = await get<{ project_id: string }>("project.create", {
    name: "demo",
    folder: source,
  });
  await get("project.create", { name: "empty" });
  const { workspace_id } = await get<{ workspace_id: string }>("workspace.create", {
    project_id,
    name: "work",
  });
  const place = join(hub.workspaces.folderOf(project_id), workspace_id);
  writeFileSync(join(place, "b.txt"), "two\n");
  git(place, "add", "-A");
  git(place, "commit", "-qm", "Second");
  writeFileSync(join(place, "c.txt"), "not committed\n");
  const event = { seq: 1, type: "title", title: "a line\u2028another\u2029" };
  await hub.store.events.append("ses_1", event);
  const env = { PATH: process.env.PATH, HOME: folder };
  const file = join(folder, "backup.tar.gz");
  const saved = await backUpHub({ folder: join(folder, "hub"), file, env });
  expect(saved).toMatchObject({
    projects: expect.arrayContaining([project_id]),
    workspaces: [{ id: workspace_id }],
  });
  expect(statSync(file).mode & 0o777).toBe(0o600);
  await expect(restoreHub({ folder: join(folder, "hub"), file, env })).rejects.toMatchObject({
    code: "ALREADY_EXISTS",
  });

  const target = newFolder();
  expect(await restoreHub({ folder: join(target, "hub"), file, env })).toEqual(saved);
  const restored = await openHub({ folder: target });
  expect(await restored.get("workspace.diff", { workspace_id })).toMatchObject({
    patch: expect.stringContaining("+two"),
  });
  const copy = join(restored.hub.workspaces.folderOf(project_id), workspace_id);
  expect(readFileSync(join(copy, "c.txt"), "utf8")).toBe("not committed\n");
  expect(await restored.hub.store.events.read("ses_1", 0, 10)).toEqual([event]);
  expect(await restored.get("workspace.merge", { workspace_id })).toMatchObject({
    merged: true,
    pushed: true,
  });
});

test("projects whose creation or deletion a kill interrupted stop no backup, and are gone after the next start", async () => {
  const folder = newFolder();
  const first = await openHub({ folder });
  const source = first.createSource();
  const create = async (name: string) =>
    (await first.get<{ project_id: string }>("project.create", { name, folder: source })).project_id;
  const [made, deleted, whole] = [await create("made"), await create("deleted"), await create("whole")];
  await first.get("workspace.create", { project_id: deleted });
  const records = first.hub.store.records<Project>("project");
  // As git leaves a clone that is killed.
  const repository = join(folder, "hub", "projects", made, "repository.git");
  rmSync(repository, { recursive: true });
  git(folder, "init", "-q", "--bare", repository);
  await records.change(made, (one) => ({ ...one, partial: "new" }));
  await records.change(deleted, (one) => ({ ...one, partial: "deleted" }));
  await records.change(whole, (one) => ({ ...one, partial: "closing" }));
  const env = { PATH: process.env.PATH };
  const file = join(newFolder(), "backup.tar.gz");
  expect(await backUpHub({ folder: join(folder, "hub"), file, env })).toMatchObject({ projects: [whole] });
  expect(await restoreHub({ folder: join(newFolder(), "hub"), file, env })).toMatchObject({
    projects: [whole],
  });
  await first.hub[Symbol.asyncDispose]();
  const { get, hub } = await openHub({ folder });
  expect(await get("project.list")).toMatchObject({ projects: [{ name: "whole" }] });
  await get("project.get", { project_id: whole });
  expect(readdirSync(join(folder, "hub", "projects"))).toEqual([whole]);
  expect(await hub.store.records("workspace").list()).toEqual([]);
});

test("a backup during which a workspace is deleted can be restored", async () => {
  const { folder, get, hub } = await openHub();
  const { project_id } = await get<{ project_id: string }>("project.create", { name: "demo" });
  const create = async () =>
    (await get<{ workspace_id: string }>("workspace.create", { project_id })).workspace_id;
  const [stays, goes] = [await create(), await create()];
  // It takes tar a while.
  writeFileSync(join(hub.workspaces.folderOf(project_id), stays, "big"), randomBytes(30_000_000));
  const file = join(newFolder(), "backup.tar.gz");
  const env = { PATH: process.env.PATH };
  const written = backUpHub({ folder: join(folder, "hub"), file, env });
  await vi.waitFor(() => expect(existsSync(`${file}.part`)).toBe(true), { timeout: 60_000, interval: 5 });
  await get("workspace.delete", { workspace_id: goes, force: true });
  expect(existsSync(file)).toBe(false);
  const saved = await written;
  expect(saved.workspaces).toEqual([{ id: stays, project_id }]);
  expect(await restoreHub({ folder: join(newFolder(), "hub"), file, env })).toEqual(saved);
});

test("a backup clears away what a killed one left, and is the only one of its hub", async () => {
  const { folder, get } = await openHub();
  await get("project.create", { name: "demo" });
  const place = join(folder, "hub");
  const file = join(newFolder(), "backup.tar.gz");
  mkdirSync(join(place, "backup-killed"));
  writeFileSync(join(place, "backup-killed", "hub.jsonl"), "{}\n");
  writeFileSync(`${file}.part`, "half of it");
  const env = { PATH: process.env.PATH };
  const both = await Promise.allSettled([
    backUpHub({ folder: place, file, env }),
    backUpHub({ folder: place, file: `${file}.2`, env }),
  ]);
  expect(both.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
  expect(both.find(({ status }) => status === "rejected")).toMatchObject({
    reason: { code: "LOCKED", message: expect.stringContaining("another backup") },
  });
  await backUpHub({ folder: place, file: `${file}.3`, env });
  expect(readdirSync(place).filter((name) => name.startsWith("backup-"))).toEqual([]);
  expect(readdirSync(dirname(file)).filter((name) => name.endsWith(".part"))).toEqual([]);
});

test("a damaged backup is refused on one line, and leaves nothing behind", async () => {
  const { folder } = await openHub();
  const env = { PATH: process.env.PATH };
  const file = join(folder, "backup.tar.gz");
  await backUpHub({ folder: join(folder, "hub"), file, env });
  writeFileSync(file, readFileSync(file).subarray(0, 100));
  const parent = newFolder();
  const [absent, empty] = [join(parent, "absent"), join(parent, "empty")];
  mkdirSync(empty);
  for (const broken of [file, import.meta.filename])
    for (const target of [absent, empty])
      await expect(restoreHub({ folder: target, file: broken, env })).rejects.toMatchObject({
        code: "INVALID_ARGUMENT",
        message: expect.stringMatching(/^the backup cannot be restored: [^\n]+$/),
      });
  expect(readdirSync(parent)).toEqual(["empty"]);
  expect(readdirSync(empty)).toEqual([]);
});

test("a restore touches no folder that has other files, and repeats one that was killed", async () => {
  const { folder } = await openHub();
  const env = { PATH: process.env.PATH };
  const file = join(folder, "backup.tar.gz");
  await backUpHub({ folder: join(folder, "hub"), file, env });
  const target = newFolder();
  // Such as the person's home.
  mkdirSync(join(target, "projects", "own"), { recursive: true });
  await expect(restoreHub({ folder: target, file, env })).rejects.toMatchObject({ code: "ALREADY_EXISTS" });
  expect(readdirSync(target, { recursive: true })).toEqual(["projects", "projects/own"]);
  // The records come last, and a kill before them leaves these.
  writeFileSync(join(target, "lock.db"), "");
  mkdirSync(join(target, "restore-x"));
  await restoreHub({ folder: target, file, env });
  expect(readdirSync(target).toSorted()).toEqual(["hub.db", "lock.db", "projects"]);
});

test("health and readiness need no token, and metrics one of the whole hub", async () => {
  const { hub, get } = await openHub();
  const { project_id } = await get<{ project_id: string }>("project.create", { name: "demo" });
  const server = await hub.serve();
  const tokenOf = async (scope: string) =>
    (await get<{ token: string }>("token.create", { name: scope, scope })).token;
  const ask = async (path: string, token?: string) => {
    const headers: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` };
    const response = await fetch(new URL(path, server.url), { headers });
    return [response.status, await response.text()] as const;
  };
  expect(await ask("/healthz")).toEqual([200, "ok\n"]);
  expect(await ask("/readyz")).toEqual([200, "ready\n"]);
  expect((await ask("/metrics"))[0]).toBe(401);
  expect((await ask("/metrics", await tokenOf(`project:${project_id}`)))[0]).toBe(403);
  const [status, text] = await ask("/metrics", await tokenOf("admin:ro"));
  expect(status).toBe(200);
  expect(text).toContain("\noctant_hub_projects 1\n");
  for (const line of text.trim().split("\n"))
    expect(line).toMatch(/^(?:# (?:HELP|TYPE) \w+ .+|\w+(?:\{\w+="[\w.]+"\})? [\d.e+-]+)$/);
  await server.close();
});
