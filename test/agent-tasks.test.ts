import { API_NAMES } from "@octant/scripted-provider";
import { expect, test } from "vitest";
import { listTasks, loadTask } from "../eval/agent-tasks.ts";
import { solveTask } from "../eval/run-task.ts";

/** One per API; `npm run torture -- --only agent-tasks` plays all of them over all APIs. */
const SOME = ["fix-js-sum", "write-python-module", "commit-changes", "patch-many-files"] as const;

test.each(API_NAMES.map((api, at) => [api, SOME[at] ?? SOME[0]] as const))(
  "over %s a scripted model solves the task %s with the real tools, and the audit has every call",
  async (api, name) => {
    expect(await solveTask(loadTask(name), api)).toEqual([]);
  },
);

test("there are twenty tasks of different languages and kinds", () => {
  const tasks = listTasks();
  expect(tasks).toHaveLength(20);
  const tools = new Set(tasks.flatMap(({ turns }) => turns.flat().map(({ call }) => call)));
  expect([...tools].sort()).toEqual(["code", "fs", "proc", "search", "test", "vcs"]);
});
