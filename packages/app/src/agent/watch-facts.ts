import type { Crew } from "@octant/agent";
import type { SandboxStatus } from "@octant/host";
import type { OpenedAgent } from "./open-agent.ts";

/**
 * Branch, sandbox, jobs, sub-agents and failed MCP servers for the status line; refreshed at the start and after every turn, without
 * blocking. `onChange` is called when one of them has changed.
 */
export function watchFacts({ agent, octant, caller, servers }: OpenedAgent, onChange: () => void) {
  let facts: { readonly branch?: string; readonly sandbox?: SandboxStatus["level"] } = {};
  let crew: Crew | undefined;
  const running = new Set<string>();
  /** Sub-agents may be there from now on. */
  const watchCrew = () => {
    octant.crew().then(
      (found) => {
        crew = found;
      },
      () => {},
    );
  };
  const look = async () => {
    const { envelope } = await octant.dispatch(
      { tool: "vcs", action: "status", input: { limit: 1 } },
      { caller: { id: "chat-status", access: "read" } },
    );
    // The output of vcs.status, which its schema has just checked.
    const data = envelope.ok ? (envelope.data as { branch?: string | null }) : {};
    const { level } = await octant.workspace.sandbox.status();
    facts = { ...(data.branch && { branch: data.branch }), sandbox: level };
    onChange();
  };
  look().catch(() => {});
  octant.workspace.processes.events.listen(({ value: { type, proc_id } }) => {
    if (type === "output") return;
    if (type === "started") running.add(proc_id);
    else running.delete(proc_id);
    onChange();
  });
  octant.modes.subscribe(onChange);
  void servers.settled().then(onChange);
  agent.subscribe((event) => {
    if (event.type === "end") look().catch(() => {});
    if (event.type === "tool_began" && event.name === "agent") watchCrew();
  });
  return {
    watchCrew,
    now: () => ({
      ...facts,
      mode: octant.modes.session(caller),
      jobs: running.size,
      failedServers: servers.status().filter(({ state }) => state === "failed").length,
      agents: crew?.list().filter(({ state }) => state === "running") ?? [],
    }),
  };
}
