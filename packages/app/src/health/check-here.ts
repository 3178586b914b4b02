import { describeLeftWork, openWorktreeRecords } from "../agent/worktree-records.ts";
import { type Check, type Checked, checkWorkspace } from "./check-workspace.ts";

/** The checks of `octant doctor` that an open workspace answers by itself. */
export async function checkHere(octant: Checked, env: NodeJS.ProcessEnv): Promise<Check[]> {
  const left = await openWorktreeRecords(octant.workspace, env).sweep();
  return [
    ...(await checkWorkspace(octant)),
    // Killed sessions leave the work of their sub-agents.
    ...left.map((work): Check => ({ name: "sub-agents", status: "warn", detail: describeLeftWork(work) })),
  ];
}
