import { action, defineTool, handle, ToolError } from "@octant/core";
import { z } from "zod";
import { toPrice } from "../sessions/hub-session.ts";
import type { HubSessions } from "../sessions/hub-sessions.ts";
import type { HubStore } from "../store/hub-store.ts";
import { findProject, ProjectId, ProjectLimits } from "./project.ts";

const EXAMPLE_PROJECT = "project_00mwhcy9qe093ycmtw78se8wgvd80rqnmr07";

/** The remaining budget of a project or a session. */
export const configLimits = (
  store: HubStore,
  sessions: Pick<HubSessions, "list" | "find" | "treeOf" | "costOf">,
) =>
  defineTool({
    name: "config_limits",
    summary: "The limits of a project and how much of them is used.",
    actions: {
      get: action({
        summary: "The limits of a project, its sessions at work, and the use of one session's tree.",
        access: "read",
        timing: "sync",
        intent: "inspect",
        input: z.strictObject({
          project_id: ProjectId,
          session_id: handle("ses").optional().describe("Adds the use of its tree"),
        }),
        output: z.object({
          limits: ProjectLimits,
          working_sessions: z.int(),
          tree: z
            .object({
              root_id: z.string(),
              agents: z.int(),
              depth: z.int().describe("Of the session"),
              cost: z.number().describe("US dollars"),
            })
            .optional(),
        }),
        errors: ["NOT_FOUND"],
        examples: [{ title: "Of a project", input: { project_id: EXAMPLE_PROJECT }, fails: "NOT_FOUND" }],
        projectOf: ({ project_id }) => project_id,
        async run({ project_id, session_id }) {
          const { limits } = await findProject(store, project_id);
          const working = (await sessions.list(project_id)).filter(({ state }) => state === "working");
          const answer = { limits, working_sessions: working.length };
          if (session_id === undefined) return answer;
          const session = await sessions.find(session_id);
          if (session.project_id !== project_id)
            throw new ToolError("NOT_FOUND", `project ${project_id} has no session '${session_id}'`, {});
          const tree = await sessions.treeOf(session);
          const cost = toPrice(tree.reduce((sum, one) => sum + sessions.costOf(one), 0));
          const { root_id, depth } = session;
          return { ...answer, tree: { root_id, agents: tree.length, depth, cost } };
        },
      }),
    },
  });
