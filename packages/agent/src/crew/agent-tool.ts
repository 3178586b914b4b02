import { type ActionText, action, counted, defineTool } from "@octant/core";
import { z } from "zod";
import type { Crew } from "./crew.ts";
import { AgentId, MemberInfo, SpawnRequest, type WorktreeOutcome } from "./member.ts";
import { findRole } from "./roles.ts";

const DEFAULT_WAIT_MS = 10 * 60_000;
const MAX_WAIT_MS = 60 * 60_000;
const EXAMPLE_ID = "agent_00mwhcy9qe093ycmtw78se8wgvd80rqnmr07";

/** Sub-agents: each has its own conversation, and at most the permissions of its parent. */
export const agentTool = (open: () => Promise<Crew>) =>
  defineTool({
    name: "agent",
    summary:
      "Start sub-agents with a role (explore, plan, solve, code, review, auto) and a task, side by side, and get their reports.",
    listing: "brief",
    actions: {
      spawn: action({
        summary: "Start a sub-agent and wait for its report, unless background is true.",
        access: "write",
        ownCheckpoints: true,
        timing: "async_medium",
        intent: "apply",
        openWorld: true,
        parallel: true,
        input: SpawnRequest.extend({
          background: z.boolean().default(false).describe("Return at once; agent.await gets the report"),
        }),
        output: MemberInfo,
        errors: [
          "NOT_FOUND",
          "LIMIT_EXCEEDED",
          "UNSUPPORTED",
          "UNAUTHENTICATED",
          "UPSTREAM_ERROR",
          "NOT_A_REPOSITORY",
          "VCS_ERROR",
        ],
        examples: [
          {
            title: "Explore a question",
            input: { role: "explore", task: "How are settings merged?" },
            fails: "UNAUTHENTICATED",
          },
        ],
        // Refused before the person is asked about it.
        preview: async ({ role }) => {
          findRole((await open()).roles, role);
          return undefined;
        },
        text: infoText,
        async run({ background, ...request }, { caller, signal }) {
          const crew = await open();
          const info = await crew.spawn(request, caller.id, background ? undefined : signal);
          if (background) return info;
          const [ended = info] = await crew.await([info.agent_id], {
            parent: caller.id,
            until: "all",
            ms: MAX_WAIT_MS,
            signal,
          });
          return ended;
        },
      }),
      send: action({
        summary: "Send a message to a sub-agent; a finished one resumes in the background.",
        access: "write",
        ownCheckpoints: true,
        timing: "sync",
        intent: "apply",
        input: z.strictObject({ agent_id: AgentId, message: z.string().min(1) }),
        output: MemberInfo,
        errors: ["NOT_FOUND"],
        examples: [
          {
            title: "Add an instruction",
            input: { agent_id: EXAMPLE_ID, message: "Also check the docs." },
            fails: "NOT_FOUND",
          },
        ],
        text: infoText,
        run: async ({ agent_id, message }, { caller }) => (await open()).send(agent_id, message, caller.id),
      }),
      await: action({
        summary: "Wait for the reports of sub-agents.",
        access: "read",
        timing: "async_medium",
        intent: "inspect",
        input: z.strictObject({
          agent_ids: z.array(AgentId).min(1).max(64),
          until: z.enum(["any", "all"]).default("all"),
          timeout: z.int().min(1).max(MAX_WAIT_MS).default(DEFAULT_WAIT_MS).describe("Milliseconds"),
        }),
        output: z.object({ agents: z.array(MemberInfo).readonly() }),
        errors: ["NOT_FOUND"],
        examples: [{ title: "Wait for one", input: { agent_ids: [EXAMPLE_ID] }, fails: "NOT_FOUND" }],
        text: ({ agents }) => ({ body: agents.map(toLines).join("\n\n") }),
        run: async ({ agent_ids, until, timeout }, { caller, signal }) => ({
          agents: await (await open()).await(agent_ids, { parent: caller.id, until, ms: timeout, signal }),
        }),
      }),
      terminate: action({
        summary: "Stop a sub-agent and everything it started.",
        access: "write",
        ownCheckpoints: true,
        timing: "sync",
        intent: "apply",
        input: z.strictObject({ agent_id: AgentId }),
        output: MemberInfo,
        errors: ["NOT_FOUND"],
        examples: [{ title: "Stop it", input: { agent_id: EXAMPLE_ID }, fails: "NOT_FOUND" }],
        text: infoText,
        run: async ({ agent_id }, { caller }) => (await open()).terminate(agent_id, caller.id),
      }),
      list: action({
        summary: "List your sub-agents and the available roles.",
        access: "read",
        timing: "sync",
        intent: "inspect",
        input: z.strictObject({}),
        output: z.object({
          agents: z.array(MemberInfo).readonly(),
          roles: z.array(z.object({ name: z.string(), summary: z.string() })).readonly(),
          left: z.array(z.string()).readonly().optional().describe("Unmerged work of earlier sub-agents"),
        }),
        examples: [{ title: "List them", input: {} }],
        text: ({ agents, roles, left = [] }) => ({
          body: [
            agents.length === 0 ? "no sub-agents" : agents.map(toLines).join("\n\n"),
            ...left,
            `roles:\n${roles.map(({ name, summary }) => `  ${name}: ${summary}`).join("\n")}`,
          ].join("\n\n"),
        }),
        async run(_, { caller }) {
          const crew = await open();
          const left = await crew.left();
          return {
            agents: crew.list(caller.id),
            roles: crew.roles.map(({ name, summary }) => ({ name, summary })),
            ...(left.length > 0 && { left }),
          };
        },
      }),
    },
  });

const infoText = (info: MemberInfo): ActionText => ({
  body: toLines(info),
  handles: { agent: info.agent_id },
});

const toLines = ({ agent_id, role, state, turns, report, worktree }: MemberInfo): string =>
  [
    `${role} ${agent_id}: ${state} after ${counted(turns, "turn")}`,
    worktree ? mergeLine(worktree) : "",
    report,
  ]
    .filter((line) => line !== "")
    .join("\n");

function mergeLine({ branch, merged, conflicts, note }: WorktreeOutcome): string {
  if (merged) return `merged from ${branch}`;
  const where = conflicts.length > 0 ? `, conflicts in ${conflicts.join(", ")}` : "";
  return `not merged: branch ${branch}${where}${note ? `; ${note}` : ""}`;
}
