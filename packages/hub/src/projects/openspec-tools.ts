import { action, defineTool, ToolError } from "@octant/core";
import { z } from "zod";
import type { HubStore } from "../store/hub-store.ts";
import type { Repositories } from "../workspaces/repositories.ts";
import { type Workspace, WorkspaceId, type Workspaces } from "../workspaces/workspaces.ts";
import { createOpenSpecReader, type OpenSpecChange } from "./openspec.ts";
import { findProject, ProjectId } from "./project.ts";

export interface OpenSpecToolsOptions {
  readonly store: HubStore;
  readonly repositories: Repositories;
  readonly workspaces: Workspaces;
}

const Where = z.strictObject({
  project_id: ProjectId,
  workspace_id: WorkspaceId.optional().describe("The branch of this workspace; the project's when absent"),
});
const ChangeId = z.string().min(1).max(255);
const Change = z.object({
  change_id: z.string(),
  archived: z.boolean(),
  title: z.string(),
  files: z.array(z.string()).readonly(),
  tasks_done: z.int(),
  tasks_total: z.int(),
});
const EXAMPLE_PROJECT = "project_00mwhcy9qe093ycmtw78se8wgvd80rqnmr07";
const READ = { access: "read", timing: "async_short", intent: "inspect" } as const;

/** The tools that read the openspec folder of a project. */
export function openSpecTools({ store, repositories, workspaces }: OpenSpecToolsOptions) {
  const open = async ({ project_id, workspace_id }: z.output<typeof Where>, signal: AbortSignal) => {
    const project = await findProject(store, project_id);
    const workspace = workspace_id === undefined ? undefined : await workspaces.find(workspace_id);
    if (workspace && workspace.project_id !== project_id) throw notOf(project_id, workspace);
    if (!workspace) await repositories.refresh(project, signal);
    const commit = workspace
      ? await workspaces.collect(project, workspace, signal)
      : await repositories.resolve(project_id, `refs/heads/${await repositories.branchOf(project)}`);
    return createOpenSpecReader(repositories.gitOf(project_id), commit);
  };
  const projectOf = ({ project_id }: { readonly project_id: string }) => project_id;
  const changes = defineTool({
    name: "project_changes",
    summary: "The changes that a project plans in its openspec folder.",
    actions: {
      list: action({
        summary: "The changes of openspec/changes with their progress; active ones first.",
        ...READ,
        input: Where.extend({ archived: z.boolean().default(false).describe("Also those that are done") }),
        output: z.object({ changes: z.array(Change).readonly() }),
        errors: ["NOT_FOUND", "VCS_ERROR"],
        examples: [{ title: "Of a project", input: { project_id: EXAMPLE_PROJECT }, fails: "NOT_FOUND" }],
        projectOf,
        async run({ archived, ...where }, { signal }) {
          const all = await (await open(where, signal)).list();
          return { changes: all.filter((change) => archived || !change.archived) };
        },
      }),
      get: action({
        summary: "One change with the text of its proposal and its design.",
        ...READ,
        input: Where.extend({ change_id: ChangeId }),
        output: Change.extend({ proposal: z.string(), design: z.string().optional() }),
        errors: ["NOT_FOUND", "VCS_ERROR"],
        examples: [
          {
            title: "By id",
            input: { project_id: EXAMPLE_PROJECT, change_id: "add-login" },
            fails: "NOT_FOUND",
          },
        ],
        projectOf,
        async run({ change_id, ...where }, { signal }) {
          const reader = await open(where, signal);
          const change = findChange(await reader.list(), change_id);
          return {
            ...change,
            proposal: await reader.readFile(change, "proposal.md"),
            ...(change.files.includes("design.md") && { design: await reader.readFile(change, "design.md") }),
          };
        },
      }),
    },
  });
  const tasks = defineTool({
    name: "project_tasks",
    summary: "The tasks of the changes that a project plans in its openspec folder.",
    actions: {
      list: action({
        summary: "The tasks of one change, or of all active ones.",
        ...READ,
        input: Where.extend({
          change_id: ChangeId.optional(),
          open: z.boolean().default(false).describe("Only those that are not done"),
        }),
        output: z.object({
          tasks: z
            .array(
              z.object({
                change_id: z.string(),
                number: z.string().optional(),
                group: z.string().optional(),
                text: z.string(),
                done: z.boolean(),
              }),
            )
            .readonly(),
        }),
        errors: ["NOT_FOUND", "VCS_ERROR"],
        examples: [{ title: "All", input: { project_id: EXAMPLE_PROJECT }, fails: "NOT_FOUND" }],
        projectOf,
        async run({ change_id, open: onlyOpen, ...where }, { signal }) {
          const reader = await open(where, signal);
          const all = await reader.list();
          const chosen =
            change_id === undefined ? all.filter(({ archived }) => !archived) : [findChange(all, change_id)];
          const found = await Promise.all(chosen.map(reader.tasksOf));
          return { tasks: found.flat().filter(({ done }) => !(onlyOpen && done)) };
        },
      }),
    },
  });
  return [changes, tasks] as const;
}

function findChange(changes: readonly OpenSpecChange[], id: string): OpenSpecChange {
  const found = changes.find(({ change_id }) => change_id === id);
  if (found) return found;
  throw new ToolError("NOT_FOUND", `openspec/changes has no '${id}'; project_changes.list shows them`, {
    id,
  });
}

const notOf = (project_id: string, { id }: Workspace) =>
  new ToolError("NOT_FOUND", `project ${project_id} has no workspace '${id}'`, { id });
