import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { type Project, ProjectLimits } from "../projects/project.ts";
import { openSqliteHubStore } from "../store/sqlite-hub-store.ts";
import { createBudgets } from "./budgets.ts";
import type { HubSession } from "./hub-session.ts";

async function openTree(limits: object) {
  const folder = mkdtempSync(join(tmpdir(), "octant-hub-"));
  const store = openSqliteHubStore({ file: join(folder, "hub.db") });
  onTestFinished(async () => {
    await store.close();
    rmSync(folder, { recursive: true });
  });
  const records = store.records<HubSession>("session");
  const at = new Date().toISOString();
  const project: Project = {
    ...{ id: "p", name: "p", source: { empty: true }, created_at: at, updated_at: at },
    limits: ProjectLimits.parse(limits),
  };
  const add = async (id: string, cost: number, parent?: HubSession) => {
    const session: HubSession = {
      ...{ id, project_id: "p", workspace_id: "w", state: "working", caller_tools: [], pending: [], cost },
      ...{ root_id: parent?.root_id ?? id, depth: parent ? parent.depth + 1 : 0 },
      ...{ created_at: at, updated_at: at },
    };
    await records.add(session);
    return session;
  };
  return { budgets: createBudgets(records), project, add };
}

test("the cost of a tree counts what its other sessions spend while a run is under way", async () => {
  const { budgets, project, add } = await openTree({ max_cost: 10 });
  const root = await add("root", 1);
  using first = await budgets.open(root, project);
  first.begin(1);
  expect(first.limits()).toEqual({ max_cost: 9 });
  const child = await add("child", 0, root);
  using second = await budgets.open(child, project);
  second.begin(0);
  second.spent(4);
  expect(first.limits()).toEqual({ max_cost: 5 });
  first.spent(7);
  expect(second.limits()).toEqual({ max_cost: 3 });
  await expect(budgets.admit(project, { parent: root }, async () => {})).rejects.toMatchObject({
    code: "LIMIT_EXCEEDED",
  });
});

test("each budget refuses the session that would exceed it, and names its limit", async () => {
  const rows = [
    [{ max_sessions: 2 }, "2 sessions at work"],
    [{ max_depth: 1 }, "1 generation"],
    [{ max_agents: 2 }, "2 sessions in one tree"],
    [{ max_cost: 2 }, "$2 in one tree"],
  ] as const;
  for (const [limits, named] of rows) {
    const { budgets, project, add } = await openTree(limits);
    const root = await add("root", 1);
    await expect(budgets.admit(project, { parent: root }, async () => {})).resolves.toBeUndefined();
    const child = await add("child", 1, root);
    await expect(budgets.admit(project, { parent: child }, async () => {})).rejects.toMatchObject({
      code: "LIMIT_EXCEEDED",
      message: expect.stringContaining(named),
      details: expect.objectContaining({ what: Object.keys(limits)[0] }),
    });
  }
});

test("sessions that are spawned at the same moment do not exceed the budget together", async () => {
  const { budgets, project, add } = await openTree({ max_sessions: 3 });
  const spawns = Array.from({ length: 10 }, (_, n) =>
    budgets.admit(project, {}, () => add(`session${n}`, 0)),
  );
  const outcomes = await Promise.allSettled(spawns);
  expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(3);
  // A second message to a session that has just begun to work.
  await budgets.admit(project, { idle_id: "session0" }, async () => {});
});
