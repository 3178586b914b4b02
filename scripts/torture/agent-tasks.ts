import { API_NAMES } from "@octant/scripted-provider";
import { listTasks } from "../../eval/agent-tasks.ts";
import { solveTask } from "../../eval/run-task.ts";
import type { Report, Torture } from "./report.ts";

/** Plays the first tasks over every API; their own tests decide whether they are solved. */
export const agentTasks: Torture = async (count, _random, onProgress) => {
  const violations: string[] = [];
  const tasks = listTasks().slice(0, count);
  for (const [at, task] of tasks.entries()) {
    for (const api of API_NAMES) violations.push(...(await solveTask(task, api)));
    onProgress(at + 1);
  }
  return {
    what: `${tasks.length} tasks over ${API_NAMES.length} APIs`,
    facts: `${tasks.length * API_NAMES.length} runs of a scripted model with the real tools`,
    violations,
  } satisfies Report;
};
