import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { git } from "../../testing/open-hub.ts";
import { type Project, ProjectLimits } from "../projects/project.ts";
import { createRepositories } from "../workspaces/repositories.ts";
import { refOf, WORKSPACES_IN_CONTAINER, type Workspace } from "../workspaces/workspaces.ts";
import { createWorkspaceCopies, type RunInPlace } from "./workspace-copies.ts";

const PROJECT: Project = {
  ...{ id: "project_1", name: "demo", source: { empty: true }, limits: ProjectLimits.parse({}) },
  ...{ created_at: "2026-11-18T00:00:00Z", updated_at: "2026-11-18T00:00:00Z" },
};

test("the time of a save is that of the hub, whatever the clock of the host says", async () => {
  const folder = mkdtempSync(join(tmpdir(), "octant-copies-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const repositories = createRepositories({ folder, env: process.env });
  await repositories.prepare(PROJECT, { signal: new AbortController().signal });
  const base = git(repositories.placeOf(PROJECT.id), "rev-parse", "refs/heads/main").trim();
  const workspace: Workspace = {
    ...{ id: "workspace_1", project_id: PROJECT.id, name: "w", branch: "octant/w", base },
    created_at: "2026-11-18T00:00:00Z",
  };
  git(repositories.placeOf(PROJECT.id), "update-ref", refOf(workspace), base);
  const place = join(folder, "place");
  mkdirSync(place);
  /** A host for which it is the year 2001. */
  const run: RunInPlace = async (argv) => {
    const [program = "", ...args] = argv.map((one) =>
      one.startsWith(WORKSPACES_IN_CONTAINER) ? place + one.slice(WORKSPACES_IN_CONTAINER.length) : one,
    );
    const late = { GIT_AUTHOR_DATE: "2001-02-03T04:05:06Z", GIT_COMMITTER_DATE: "2001-02-03T04:05:06Z" };
    const child = spawn(program, args, { env: { ...process.env, ...late } });
    const exited = once(child, "exit").then(([code]) => code as number | null);
    return {
      ...child,
      stdin: child.stdin,
      stdout: child.stdout,
      stderr: child.stderr,
      exited,
      async kill() {},
    };
  };
  const copies = createWorkspaceCopies({ repositories, folder });
  const began = Math.floor(Date.now() / 1_000) * 1_000;
  await copies.seed(PROJECT, workspace, run);
  writeFileSync(join(place, workspace.id, "new.txt"), "new\n");
  await copies.save(PROJECT, workspace, run);
  expect(Date.parse((await copies.savedAt(workspace)) ?? "")).toBeGreaterThanOrEqual(began);
});
