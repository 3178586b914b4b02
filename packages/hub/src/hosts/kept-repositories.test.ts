import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { ToolError } from "@octant/core";
import { expect, onTestFinished, test } from "vitest";
import { git } from "../../testing/open-hub.ts";
import { HOSTED_PLACE } from "../peers/peers.ts";
import { type Project, ProjectLimits } from "../projects/project.ts";
import { openHubStore } from "../store/open-hub-store.ts";
import { createRepositories } from "../workspaces/repositories.ts";
import { createKeptRepositories, type KeptRepository } from "./kept-repositories.ts";

const PROJECT: Project = {
  ...{ id: "project_1", name: "demo", source: { empty: true }, limits: ProjectLimits.parse({}) },
  ...{ place: "a", created_at: "2026-11-18T00:00:00Z", updated_at: "2026-11-18T00:00:00Z" },
};
const SIGNAL = { signal: new AbortController().signal };
const REF = "refs/octant/workspaces/workspace_1";

/** A store that several hubs share, and object store files in a folder. */
async function openWorld() {
  const folder = mkdtempSync(join(tmpdir(), "octant-kept-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const store = await openHubStore({ folder, database: undefined, log() {} });
  onTestFinished(() => store.close());
  await store.records<Project>("project").add(PROJECT);
  const objects = join(folder, "objects");
  mkdirSync(objects);
  const fileOf = (name: string) => join(objects, basename(name));
  const log: string[] = [];
  let isAway = false;
  const check = () => {
    if (isAway) throw new ToolError("UPSTREAM_ERROR", "the object store did not answer", {});
  };
  const openHub = (name: string) => {
    const own = join(folder, name);
    mkdirSync(own, { recursive: true });
    const repositories = createRepositories({ folder: own, env: process.env });
    const kept = createKeptRepositories({
      ...{ store, repositories, folder: own, log: (line) => void log.push(line) },
      objects: {
        async put(one, file) {
          check();
          copyFileSync(file, fileOf(one));
        },
        async get(one, file) {
          check();
          if (!existsSync(fileOf(one))) throw new ToolError("NOT_FOUND", `no ${one}`, { id: one });
          copyFileSync(fileOf(one), file);
        },
        remove: async (one) => rmSync(fileOf(one)),
      },
    });
    const place = repositories.placeOf(PROJECT.id);
    return {
      ...{ repositories, kept, place },
      refs: () => git(place, "for-each-ref", "--format=%(refname) %(objectname)"),
      /** A new commit of the workspace, on top of its last one. */
      commit(text: string): string {
        const parent = git(place, "for-each-ref", "--format=%(objectname)", REF).trim() || "refs/heads/main";
        const made = git(place, "commit-tree", `${parent}^{tree}`, "-p", parent, "-m", text).trim();
        git(place, "update-ref", REF, made);
        return made;
      },
    };
  };
  const record = () => store.records<KeptRepository>("repository").get(PROJECT.id);
  return {
    ...{ openHub, record, log, store, objects },
    setAway(away: boolean) {
      isAway = away;
    },
  };
}

test("a repository is at another hub as it was kept last, after many saves", async () => {
  const { openHub, record, log, objects } = await openWorld();
  const [one, two] = [openHub("one"), openHub("two")];
  await one.repositories.prepare(PROJECT, SIGNAL);
  await one.kept.reach(PROJECT);
  for (let n = 0; n < 70; n += 1) {
    one.commit(`Commit ${n}`);
    await one.kept.keep(PROJECT.id);
  }
  const { packs, replaced } = (await record()) ?? {};
  expect(packs?.length).toBeLessThanOrEqual(32);
  expect(readdirSync(objects)).toHaveLength(1 + (packs?.length ?? 0) + (replaced?.length ?? 0));
  const hosted = { ...PROJECT, place: HOSTED_PLACE };
  await two.kept.reach(hosted);
  expect(two.refs()).toBe(one.refs());
  git(two.place, "fsck", "--connectivity-only");
  // Only what is new is fetched, and the first hub gets it in turn.
  two.commit("At the other hub");
  await two.kept.keep(PROJECT.id);
  await one.kept.reach(hosted);
  expect(one.refs()).toBe(two.refs());
  await one.kept.remove(PROJECT.id);
  expect(readdirSync(objects)).toEqual([]);
  expect(log).toEqual([]);
});

test("what a hub did not keep is not there, and a save that failed is made up for", async () => {
  const { openHub, setAway } = await openWorld();
  const [one, two] = [openHub("one"), openHub("two")];
  await one.repositories.prepare(PROJECT, SIGNAL);
  await one.kept.reach(PROJECT);
  const before = one.refs();
  one.commit("Lost");
  setAway(true);
  await expect(one.kept.keep(PROJECT.id)).rejects.toMatchObject({ code: "UPSTREAM_ERROR" });
  await expect(two.kept.reach({ ...PROJECT, place: HOSTED_PLACE })).rejects.toMatchObject({
    code: "UPSTREAM_ERROR",
  });
  setAway(false);
  await two.kept.reach({ ...PROJECT, place: HOSTED_PLACE });
  expect(two.refs()).toBe(before);
  await one.kept.keep(PROJECT.id);
  await two.kept.reach({ ...PROJECT, place: HOSTED_PLACE });
  expect(two.refs()).toBe(one.refs());
  one.commit("Only here");
  await one.kept.reach({ ...PROJECT, place: HOSTED_PLACE });
  expect(one.refs()).toBe(two.refs());
});
