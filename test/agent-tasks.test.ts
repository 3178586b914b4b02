import { API_NAMES } from "@octant/scripted-provider";
import { expect, test } from "vitest";
import { listTasks, loadTask } from "../eval/agent-tasks.ts";
import { solveTask } from "../eval/run-task.ts";
import { AGENT_HOSTS } from "./agent-hosts.ts";

/** One per API; `npm run torture -- --only agent-tasks` plays all of them over all APIs. */
const SOME = ["fix-js-sum", "write-python-module", "commit-changes", "patch-many-files"] as const;

const ROWS = API_NAMES.flatMap((api, at) =>
  AGENT_HOSTS.map((host) => [api, host, SOME[at] ?? SOME[0]] as const),
);

test.each(ROWS)(
  "over %s with a %s host a scripted model solves the task %s with the real tools, and the audit has every call",
  async (api, host, name) => {
    expect(await solveTask(loadTask(name), api, host)).toEqual([]);
  },
);

test("there are twenty tasks of different languages and kinds", () => {
  const tasks = listTasks();
  expect(tasks).toHaveLength(20);
  const tools = new Set(tasks.flatMap(({ turns }) => turns.flat().map(({ call }) => call)));
  expect([...tools].sort()).toEqual(["code", "fs", "proc", "search", "test", "vcs"]);
});
