import type { MemberListener } from "@octant/agent";
import type { SandboxStatus } from "@octant/host";
import { followMembers } from "./members.ts";
import type { OpenedAgent } from "./open-agent.ts";

/**
 * Branch, sandbox, jobs, sub-agents and failed MCP servers for the status line; refreshed at the start, after every turn
 * and after commands of the person, without blocking. `onChange` is called when one of them has changed, `onMember` with
 * the events of sub-agents.
 */
export function watchFacts(
  { agent, octant, caller, servers }: OpenedAgent,
  onChange: () => void,
  onMember: MemberListener,
) {
  let facts: { readonly branch?: string; readonly sandbox?: SandboxStatus["level"] } = {};
  const members = followMembers({ agent, octant }, onMember);
  const running = new Set<string>();
  const look = async () => {
    const { envelope } = await octant.dispatch(
      { tool: "vcs", action: "status", input: { limit: 1 } },
      { caller: { id: "chat-status", access: "read", isPerson: true } },
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
  });
  return {
    /** A command of the person begins: it may start sub-agents. */
    commandBegan: members.expect,
    /** It may have switched the branch. */
    commandEnded: () => void look().catch(() => {}),
    now: () => ({
      ...facts,
      mode: octant.modes.session(caller),
      jobs: running.size,
      failedServers: servers.status().filter(({ state }) => state === "failed").length,
      agents: members.running(),
    }),
  };
}
