import { createClient, createRegistry } from "@octant/core";
import { ws } from "@octant/tools";
import { describeLeftWork, openWorktreeRecords } from "../agent/worktree-records.ts";
import { LOCAL_CALLER } from "../edges.ts";
import type { Octant, OwnTool } from "../octant.ts";
import { isTemporary } from "../tools/own-tools.ts";
import { loadVersion } from "../version.ts";
import { type Check, checkWorkspace } from "./check-workspace.ts";

type Checked = Pick<Octant, "registry" | "workspace" | "dispatchUnrecorded">;

/** The checks of `octant doctor` that an open workspace answers by itself, whatever tools it has. They leave no record. */
export async function checkHere(
  { registry, workspace, dispatchUnrecorded }: Checked,
  env: NodeJS.ProcessEnv,
): Promise<Check[]> {
  const left = await openWorktreeRecords(workspace, env).sweep();
  // A hub and a server with few tools have no `ws`.
  const own = ws({
    workspace,
    registry,
    version: loadVersion(),
    sandbox: workspace.sandbox,
    state: { kind: isTemporary(workspace) ? "temporary" : "persistent" },
  });
  const dispatch = dispatchUnrecorded(createRegistry([own]));
  const client = createClient<OwnTool>(dispatch, { caller: LOCAL_CALLER });
  return [
    ...(await checkWorkspace({ client, workspace })),
    // Killed sessions leave the work of their sub-agents.
    ...left.map((work): Check => ({ name: "sub-agents", status: "warn", detail: describeLeftWork(work) })),
  ];
}
