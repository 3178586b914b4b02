import { describeLeftWork, openWorktreeRecords } from "../agent/worktree-records.ts";
import type { Octant, OwnTool } from "../octant.ts";
import { type Check, checkWorkspace } from "./check-workspace.ts";

/** The checks of `octant doctor` that an open workspace answers by itself. */
export async function checkHere(octant: Octant, env: NodeJS.ProcessEnv): Promise<Check[]> {
  // The client is typed by the tools of the workspace; `ws` is always there.
  const own = octant as Octant<OwnTool>;
  const left = await openWorktreeRecords(octant.workspace, env).sweep();
  return [
    ...(await checkWorkspace(own)),
    // Killed sessions leave the work of their sub-agents.
    ...left.map((work): Check => ({ name: "sub-agents", status: "warn", detail: describeLeftWork(work) })),
  ];
}
