import {
  Agent,
  CREW_LIMITS,
  Crew,
  createDispatchExecutor,
  createMcpExecutor,
  createResourceExecutor,
  createToolExecutor,
  type HostContext,
  type LimitReached,
  type Limits,
  type Member,
  type MemberHosts,
  type MemberPlan,
  markPlans,
  parseRole,
  ROLES,
  type Role,
  type ToolExecutor,
  type ToolHost,
} from "@octant/agent";
import { type Access, type Ask, type Caller, ownerOf, sessionOf, toMemberId } from "@octant/core";
import type { McpServers } from "@octant/mcp-client";
import type { PermissionSetting } from "@octant/runtime";
import { createLocalHost } from "../host/local-host.ts";
import type { Octant } from "../octant.ts";
import { cwdOf, toSystem } from "./agent-context.ts";
import { openClient, withoutKeys } from "./choose-client.ts";
import type { OpenAgentOptions } from "./open-agent.ts";
import { createSessionHooks, forMember } from "./session-hooks.ts";
import { modeOf } from "./session-mode.ts";
import { openSessions } from "./sessions.ts";
import { createMemberHosts } from "./worktree.ts";
import { describeLeftWork, openWorktreeRecords } from "./worktree-records.ts";

export interface WorkspaceCrewOptions {
  readonly octant: Octant;
  /** Contains the API keys of the providers. */
  readonly env: NodeJS.ProcessEnv;
  readonly options?: Pick<OpenAgentOptions, "provider" | "model" | "allow" | "limits" | "onMoment">;
  /** The limit that the run of the root has reached. */
  readonly rootLimit?: () => LimitReached | undefined;
  /** As in the workspace. */
  readonly permissions: PermissionSetting;
  /** The front end of the root, which shows the questions of all. */
  readonly ask?: Ask | undefined;
  /** Where the session of the root works; the workspace itself when absent. */
  readonly host?: ToolHost | undefined;
  readonly places?: MemberHosts | undefined;
  /** The MCP servers of the root, once they are opened. */
  readonly servers?: () => McpServers | undefined;
}

/** Sub-agents in the workspace, with its policy, hooks and sandbox. */
export function createWorkspaceCrew(given: WorkspaceCrewOptions): Crew {
  const { octant, env, options = {}, ask } = given;
  const { host = createLocalHost(octant, env) } = given;
  const places =
    given.places ??
    createMemberHosts(octant, {
      env: withoutKeys(env),
      permissions: given.permissions,
      crew: () => crew,
      allow: options.allow,
    });
  let context: Promise<HostContext> | undefined;
  const systemFor = async (role: Role) => {
    context ??= host.context();
    const system = toSystem(host, await context, octant.config.settings, role.access !== "none");
    return `${system}\n\n# Role\n${role.prompt}`;
  };

  const create = async (plan: MemberPlan): Promise<Member> => {
    const { provider } = options;
    const client = await openClient(octant, env, {
      provider,
      model: plan.model ?? options.model,
      searches: plan.of.access !== "none" && allows(plan, "net"),
    });
    const system = await systemFor(plan.of);
    const { host: place, join, finish, close } = await places.open(plan);
    const access = accessOf(plan);
    const owner = ownerOf(plan.parent);
    const sessions = openSessions(octant.workspace, owner === undefined ? undefined : { id: owner });
    const session = await sessions.create();
    // For an owner of the bridge it does what the owner may do, and sees what the owner sees.
    const id = toMemberId(plan.parent, session.id);
    const caller: Caller =
      owner === undefined ? { id, access } : { id, access: toRemote(access), remote: true };
    const own = createDispatchExecutor({
      host: place,
      caller,
      mode: () => modeOf(octant, plan.parent),
      allows: (tool) => allows(plan, tool),
    });
    const servers = given.servers?.();
    // MCP servers run in this process, also where the tools run elsewhere.
    const { dispatchTo = octant.dispatchTo } = place;
    const foreign = servers && {
      servers,
      dispatchTo,
      caller,
      // A server's claim that a tool only reads is not trusted.
      allows: (tool: string) => access !== "read" && allows(plan, tool),
    };
    const further = foreign ? [createMcpExecutor(foreign), createResourceExecutor(foreign)] : [];
    // With tools elsewhere, the agent tool is still one of this process.
    const here = createDispatchExecutor({
      host: createLocalHost(octant, env),
      caller,
      allows: (tool) => allows(plan, tool),
    });
    octant.spending.join(id, session);
    await join(id);
    const agent = new Agent({
      client,
      tools:
        plan.of.access === "none"
          ? NO_TOOLS
          : createToolExecutor({
              own,
              further: given.host ? [here, ...further] : further,
              steps: [markPlans(session)],
            }),
      session,
      hooks: forMember(createSessionHooks(octant, session, options.onMoment), {
        agent_id: plan.agent_id,
        agent_type: plan.role,
      }),
      ask,
      system,
      cwd: cwdOf(place),
      limits: () => ({ max_cost: limitsOf(options).max_cost }),
      parent: toParent(plan),
    });
    const leave = octant.sessions.join(agent);
    return {
      agent,
      ...(finish && { finish }),
      async close() {
        leave();
        await agent.close();
        await close();
      },
    };
  };
  const { max_turns = CREW_LIMITS.max_turns, max_cost = CREW_LIMITS.max_cost } = limitsOf(options);
  const crew: Crew = new Crew({
    roles: () => loadRoles(host),
    create,
    // Commands of the person start sub-agents outside of any run; these limits hold there too.
    limits: {
      max_turns: Math.min(max_turns, CREW_LIMITS.max_turns),
      max_cost: Math.min(max_cost, CREW_LIMITS.max_cost),
    },
    left: async () =>
      (await openWorktreeRecords(octant.workspace, withoutKeys(env)).sweep()).map(describeLeftWork),
    spend: octant.spending.spend,
    rootLimit: given.rootLimit,
    close: () => places.close(),
  });
  return crew;
}

/** The limits of now. */
export const limitsOf = ({ limits = {} }: Pick<OpenAgentOptions, "limits">): Limits =>
  typeof limits === "function" ? limits() : limits;

/** An owner of the bridge has no admin rights. */
const toRemote = (access: Access): Access => (access === "admin" ? "write" : access);

function toParent({ parent, role }: MemberPlan) {
  const session_id = sessionOf(parent);
  return session_id.startsWith("ses_") ? { session_id, kind: "agent" as const, role } : undefined;
}

const NO_TOOLS: ToolExecutor = {
  definitions: () => [],
  outline: ({ name }) => ({ title: name, kind: "other", reads_only: true, paths: [] }),
  execute: async () => ({ content: [{ type: "text", text: "this agent has no tools" }], is_error: true }),
};

/** The access of the role, limited by all roles above it. */
const accessOf = (plan: MemberPlan): Access =>
  [plan, ...plan.above].every(({ of }) => of.access === "write" || of.access === "admin") ? "write" : "read";

const allows = (plan: MemberPlan, tool: string): boolean =>
  [plan, ...plan.above].every(
    ({ of, tools }) => (of.tools?.includes(tool) ?? true) && (tools?.includes(tool) ?? true),
  );

/** The built-in roles, the person's own, and the project's that the person trusts with exactly this content. */
function loadRoles(host: Pick<ToolHost, "markdown">): readonly Role[] {
  const own = host.markdown("roles").flatMap(({ name, text }) => parseRole(name, text) ?? []);
  const all = [...ROLES, ...own];
  return all.filter(({ name }, at) => all.findIndex((role) => role.name === name) === at);
}
