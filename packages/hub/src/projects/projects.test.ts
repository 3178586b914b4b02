import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { git, openHub } from "../../testing/open-hub.ts";
import { parseTasks } from "./openspec.ts";
import { ProjectLimits, toProjectView } from "./project.ts";

interface View {
  readonly project_id: string;
  readonly labels?: Record<string, string>;
}

test("a project is changed field by field, and null removes a setting, a secret or a limit", async () => {
  const { get, call } = await openHub();
  const { project_id } = await get<View>("project.create", {
    name: "demo",
    model: "opus",
    secrets: { A: "1", B: "2" },
    labels: { team: "a", tier: "1" },
    limits: { memory_mb: 512, max_cost: 5, max_depth: 2 },
  });
  const update = (changes: object) => get("project.update", { project_id, ...changes });
  expect(
    await update({
      name: "renamed",
      secrets: { A: null, C: "3" },
      labels: { tier: null },
      limits: { max_cost: null },
    }),
  ).toMatchObject({
    name: "renamed",
    model: "opus",
    secrets: ["B", "C"],
    labels: { team: "a" },
    limits: { memory_mb: 512, max_depth: 2 },
  });
  const after = await update({ model: null, description: "New" });
  expect(after).toMatchObject({ description: "New", secrets: ["B", "C"] });
  expect(after).not.toHaveProperty("model");
  expect(after).not.toHaveProperty("limits.max_cost");
  expect((await call("project.update", { project_id, branch: "gone" })).error?.code).toBe("NOT_FOUND");
  expect((await call("project.update", { project_id, limits: { pids: 100 } })).error?.code).toBe(
    "UNSUPPORTED",
  );
  await get("project.create", { name: "other" });
  expect((await call("project.update", { project_id, name: "other" })).error?.code).toBe("ALREADY_EXISTS");
});

test("a caller of one project is told why its settings are not for it", async () => {
  const { get, call } = await openHub();
  const { project_id } = await get<View>("project.create", { name: "demo" });
  const bob = { id: "bob", access: "write", project: project_id } as const;
  expect((await call("project.update", { project_id, description: "Mine" }, bob)).error).toMatchObject({
    code: "PERMISSION_DENIED",
    message: `project.update needs access to the whole server; this caller is limited to project ${project_id}`,
  });
});

test("projects are found by labels and by part of their name", async () => {
  const { get } = await openHub();
  await get("project.create", { name: "shop-api", labels: { team: "a", tier: "1" } });
  await get("project.create", { name: "shop-web", labels: { team: "b" } });
  const names = async (filter: object) =>
    (await get<{ projects: { name: string }[] }>("project.list", filter)).projects.map(({ name }) => name);
  expect(await names({ labels: { team: "a" } })).toEqual(["shop-api"]);
  expect(await names({ labels: { team: "a", tier: "2" } })).toEqual([]);
  expect(await names({ labels: { constructor: "x" } })).toEqual([]);
  expect(await names({ name_contains: "web" })).toEqual(["shop-web"]);
});

test("the changes and tasks of an openspec folder are read from the project's branch", async () => {
  const { get, call, createSource } = await openHub();
  const folder = createSource();
  const add = (path: string, text: string) => {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  };
  const login = "openspec/changes/add-login";
  add(`${login}/proposal.md`, "# Change: Sign in with a password\n\n## Why\n");
  add(
    `${login}/tasks.md`,
    "## 1. Server\n- [x] 1.1 Store hashes\n- [ ] 1.2 Check them\n## 2. Page\n* [X] Form\n",
  );
  add(`${login}/specs/auth/spec.md`, "## ADDED Requirements\n");
  add("openspec/changes/archive/2026-01-02-old/proposal.md", "# Old\n");
  git(folder, "add", "-A");
  git(folder, "commit", "-qm", "Plan");
  const { project_id } = await get<View>("project.create", { name: "demo", folder });
  const change = { change_id: "add-login", title: "Sign in with a password", tasks_done: 2, tasks_total: 3 };
  expect(await get("project_changes.list", { project_id })).toMatchObject({ changes: [change] });
  expect(await get("project_changes.list", { project_id, archived: true })).toMatchObject({
    changes: [change, { change_id: "2026-01-02-old", archived: true, tasks_total: 0 }],
  });
  expect(await get("project_changes.get", { project_id, change_id: "add-login" })).toMatchObject({
    ...change,
    files: ["proposal.md", "specs/auth/spec.md", "tasks.md"],
    proposal: expect.stringContaining("## Why"),
  });
  expect(await get("project_tasks.list", { project_id, open: true })).toEqual({
    tasks: [{ change_id: "add-login", number: "1.2", group: "1. Server", text: "Check them", done: false }],
  });
  expect((await call("project_tasks.list", { project_id, change_id: "../add-login" })).error?.code).toBe(
    "NOT_FOUND",
  );
});

test("a task list with odd lines gives its tasks", () => {
  const text = "- [ ] \n- [x]no space\n  - [ ] 2.10. Nested   \n- not a task\n";
  expect(parseTasks("c", text)).toEqual([{ change_id: "c", number: "2.10", text: "Nested", done: false }]);
});

test("options and limits are those of the hub and of the project", async () => {
  const { get } = await openHub({ env: { ANTHROPIC_API_KEY: "sk-test" } });
  const options = await get("project_options.get");
  expect(options).toMatchObject({ engine: { name: "unconfined" }, default_model: expect.any(String) });
  expect(await get("project.options")).toEqual(options);
  const { project_id } = await get<View>("project.create", { name: "demo", limits: { max_agents: 7 } });
  expect(await get("config_limits.get", { project_id })).toMatchObject({
    limits: { max_agents: 7, max_depth: 3 },
    working_sessions: 0,
  });
});

test("deleting a project removes its schedules and its tokens", async () => {
  const { get, hub } = await openHub();
  const { project_id } = await get<View>("project.create", { name: "demo" });
  const { token } = await get<{ token: string }>("token.create", {
    name: "t",
    scope: `project:${project_id}`,
  });
  await get("schedule.create", { project_id, name: "nightly", cron: "0 2 * * *", message: "Work." });
  expect(hub.tokens.check.verify(token)).toBeDefined();
  await get("project.delete", { project_id });
  expect(hub.tokens.check.verify(token)).toBeUndefined();
  expect(await hub.store.records("schedule").list()).toEqual([]);
});

test.each([
  ["https://bob:pass@git.test/x.git", "https://git.test/x.git"],
  ["https://ghp_token@git.test/x.git", "https://git.test/x.git"],
  ["ssh://git@git.test/x.git", "ssh://git@git.test/x.git"],
  ["git@git.test:x.git", "git@git.test:x.git"],
])("the credentials in a source's URL are not shown: %s", (url, shown) => {
  const limits = ProjectLimits.parse({});
  const project = { id: "project_1", name: "demo", limits, source: { url }, created_at: "", updated_at: "" };
  expect(toProjectView(project).source_url).toBe(shown);
});
