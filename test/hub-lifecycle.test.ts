import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { newHandle } from "@octant/core";
import { expect, test } from "vitest";
import { findProject } from "../packages/hub/src/projects/project.ts";
import { git, openHub } from "../packages/hub/testing/open-hub.ts";
import { createUnconfinedEngine } from "../packages/hub/testing/unconfined-engine.ts";
import { createManualClock } from "../packages/terminal/src/testing/clock.ts";

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

async function openProject(limits: object, more: object = {}) {
  const clock = createManualClock(Date.now());
  const opened = await openHub({ clock });
  const { hub, get } = opened;
  const created = await get<{ project_id: string }>("project.create", {
    ...{ name: "demo", folder: opened.createSource(), limits },
    ...more,
  });
  const { project_id } = created;
  const project = () => findProject(hub.store, project_id);
  const state = async () => (await hub.containers.find(project_id))?.state;
  const types = () => hub.lifecycle.read(0).events.map(({ value: { type } }) => type);
  return { ...opened, clock, project_id, project, state, types };
}

test("an idle container stops, a stopped one is removed, its next use starts it again, and events say so", async () => {
  const { hub, get, clock, project_id, project, state, types } = await openProject({
    idle_stop_minutes: 10,
    archive_days: 2,
  });
  await hub.containers.start(await project());
  await clock.pass(9 * MINUTE_MS);
  expect(await state()).toBe("running");
  await clock.pass(3 * MINUTE_MS);
  expect(await state()).toBe("stopped");
  await clock.pass(2 * DAY_MS);
  expect(await state()).toBeUndefined();
  const once = ["container.started", "container.stopped", "container.removed"];
  expect(types()).toEqual(["project.created", ...once]);
  await hub.containers.start(await project());
  expect(await state()).toBe("running");
  await get("container.exec", { project_id, command: "true" });
  await get("container.stop", { project_id });
  await get("container.stop", { project_id });
  await get("container.refresh", { project_id });
  const refreshed = ["container.removed", "container.started"];
  expect(types()).toEqual([
    "project.created",
    ...once,
    "container.started",
    "container.stopped",
    ...refreshed,
  ]);
});

test("the container of an earlier install, whose files may be gone, is made again at its next start", async () => {
  const engine = createUnconfinedEngine();
  const first = await openHub({ engine });
  const { folder } = first;
  const { project_id } = await first.get<{ project_id: string }>("project.create", { name: "demo" });
  const install = join(folder, "install");
  mkdirSync(join(install, "node_modules", "zod"), { recursive: true });
  for (const file of ["octant.js", "package.json"]) writeFileSync(join(install, file), "");
  const start = async (get: typeof first.get) => {
    await get("container.start", { project_id });
    const { text } = await get<{ text: string }>("container.logs", { project_id });
    return text.split("\n").map((line) => line.replace(/^\S+ /, ""));
  };
  await start(first.get);
  await first.hub[Symbol.asyncDispose]();
  const same = await openHub({ engine, folder });
  const created = ["creating the container", "started", "stopped"];
  expect(await start(same.get)).toEqual([...created, "started"]);
  await same.hub[Symbol.asyncDispose]();
  const other = await openHub({ engine, folder, launcher: join(install, "octant.js") });
  const again = ["removed: Octant was installed again", "creating the container", "started"];
  expect(await start(other.get)).toEqual([...created, "started", "stopped", ...again]);
});

test("old sessions are deleted with workspaces that hold nothing, and work that exists nowhere else stays", async () => {
  const { hub, get, clock, project_id, log } = await openProject({ delete_days: 3 });
  const at = new Date(clock.now()).toISOString();
  const add = async (name: string) => {
    const { workspace_id } = await get<{ workspace_id: string }>("workspace.create", { project_id, name });
    const id = newHandle("ses", Date.now());
    await hub.store.records("session").add({
      ...{ id, project_id, workspace_id, state: "idle", root_id: id, depth: 0, cost: 0 },
      ...{ caller_tools: [], pending: [], created_at: at, updated_at: at },
    });
    return { id, place: join(hub.workspaces.folderOf(project_id), workspace_id) };
  };
  const [merged, unmerged] = [await add("merged"), await add("unmerged")];
  writeFileSync(join(unmerged.place, "b.txt"), "two\n");
  git(unmerged.place, "add", "-A");
  git(unmerged.place, "commit", "-qm", "Only here");
  const { total } = await get<{ total: number }>("session.list", { project_id });
  expect(total).toBe(2);
  const cleaned = await hub.cleanUp(await findProject(hub.store, project_id), {
    before: clock.now() + DAY_MS,
    idle: true,
    force: false,
  });
  expect(cleaned).toMatchObject({
    deleted: [merged.id],
    kept_workspaces: [{ reason: expect.stringContaining("1 commit") }],
  });
  expect([merged, unmerged].map(({ place }) => existsSync(place))).toEqual([false, true]);
  expect(log).toEqual([]);
  expect(
    await get("session.cleanup", { project_id, idle: true, max_age_hours: 0, force: true }),
  ).toMatchObject({
    deleted: [unmerged.id],
  });
});

test("a container is used once its ready command succeeds", async () => {
  const { hub, project, folder } = await openProject({}, { ready_command: ["true"] });
  await hub.containers.start(await project());
  const mark = join(folder, "ready");
  const waiting = await openProject(
    {},
    { ready_command: ["sh", "-c", `test -e ${mark} || { touch ${mark}; exit 1; }`] },
  );
  await waiting.hub.containers.start(await waiting.project());
  expect(existsSync(mark)).toBe(true);
});
