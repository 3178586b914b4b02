import { action, counted, defineTool, ToolError } from "@octant/core";
import { z } from "zod";
import { findProject, ProjectId } from "../projects/project.ts";
import type { HubStore } from "../store/hub-store.ts";
import type { Repositories } from "./repositories.ts";
import { checkProtected, type Workspace, WorkspaceId, type Workspaces } from "./workspaces.ts";

export interface WorkspaceToolOptions {
  readonly store: HubStore;
  readonly workspaces: Workspaces;
  readonly repositories: Repositories;
  /** Ids of the sessions that are at work in it. */
  activeIn(workspace: Workspace): Promise<readonly string[]>;
  /** A workspace was merged. */
  onMerged(workspace: Workspace): void;
}

const WorkspaceView = z.object({
  workspace_id: z.string(),
  project_id: z.string(),
  name: z.string(),
  branch: z.string(),
  base: z.string(),
  created_at: z.string(),
  last_session_at: z.string().optional(),
});
const One = z.strictObject({ workspace_id: WorkspaceId });
const Name = z
  .string()
  .regex(
    /^[A-Za-z0-9](?:[A-Za-z0-9_-]|\.(?!\.)){0,60}[A-Za-z0-9]$/,
    "a name is 2 to 62 letters, digits, dots, dashes and underscores",
  );
const MAX_PATCH_CHARS = 200_000;
const EXAMPLE_ID = "workspace_00mwhcy9qe093ycmtw78se8wgvd80rqnmr07";
const EXAMPLE_PROJECT = "project_00mwhcy9qe093ycmtw78se8wgvd80rqnmr07";
const READ = { access: "read", timing: "async_short", intent: "inspect" } as const;
const WRITE = { access: "write", timing: "async_short", intent: "apply" } as const;

export const workspaceTool = (options: WorkspaceToolOptions) => {
  const { store, workspaces, repositories, activeIn } = options;
  const projectOf = async ({ workspace_id }: { readonly workspace_id: string }) =>
    (await store.records<Workspace>("workspace").get(workspace_id))?.project_id;
  const open = async (workspace_id: string) => {
    const workspace = await workspaces.find(workspace_id);
    return { workspace, project: await findProject(store, workspace.project_id) };
  };
  return defineTool({
    name: "workspace",
    summary: "The clones of a project in which sessions work, each on a branch of its own.",
    actions: {
      list: action({
        summary: "The workspaces of a project, newest first.",
        ...READ,
        timing: "sync",
        input: z.strictObject({ project_id: ProjectId }),
        output: z.object({ workspaces: z.array(WorkspaceView).readonly() }),
        errors: ["NOT_FOUND"],
        examples: [{ title: "Of a project", input: { project_id: EXAMPLE_PROJECT }, fails: "NOT_FOUND" }],
        projectOf: ({ project_id }) => project_id,
        async run({ project_id }) {
          await findProject(store, project_id);
          return { workspaces: (await workspaces.list(project_id)).map(toView) };
        },
      }),
      create: action({
        summary: "Create a workspace from the newest state of the project's branch.",
        ...WRITE,
        input: z.strictObject({ project_id: ProjectId, name: Name.optional() }),
        output: WorkspaceView,
        errors: ["NOT_FOUND", "ALREADY_EXISTS", "VCS_ERROR"],
        examples: [
          { title: "With a name", input: { project_id: EXAMPLE_PROJECT, name: "login" }, fails: "NOT_FOUND" },
        ],
        projectOf: ({ project_id }) => project_id,
        run: async ({ project_id, name }, { signal }) =>
          toView(await workspaces.create(await findProject(store, project_id), { name }, signal)),
      }),
      delete: action({
        summary: "Delete a workspace; refused while it has commits that exist nowhere else.",
        ...WRITE,
        destructive: true,
        input: One.extend({ force: z.boolean().default(false).describe("Also deletes such commits") }),
        output: z.object({ deleted: z.literal(true) }),
        errors: ["NOT_FOUND", "CONFIRM_REQUIRED", "LOCKED", "VCS_ERROR"],
        examples: [{ title: "By id", input: { workspace_id: EXAMPLE_ID }, fails: "NOT_FOUND" }],
        projectOf,
        async run({ workspace_id, force }) {
          const { workspace, project } = await open(workspace_id);
          refuseActive(await activeIn(workspace));
          await workspaces.remove(project, workspace, { force });
          return { deleted: true as const };
        },
      }),
      diff: action({
        summary: "The commits of a workspace and what they change since its base.",
        ...READ,
        input: One,
        output: z.object({
          commit: z.string(),
          commits: z.array(z.string()).readonly(),
          patch: z.string(),
          note: z.string().optional(),
          incomplete: z.string().optional(),
        }),
        errors: ["NOT_FOUND", "VCS_ERROR"],
        examples: [{ title: "By id", input: { workspace_id: EXAMPLE_ID }, fails: "NOT_FOUND" }],
        projectOf,
        async run({ workspace_id }, { signal }) {
          const { workspace, project } = await open(workspace_id);
          const { patch, uncommitted, ...found } = await workspaces.diff(project, workspace, signal);
          const rest = { ...found, ...(uncommitted > 0 && { note: uncommittedNote(uncommitted, "shown") }) };
          if (patch.length <= MAX_PATCH_CHARS) return { ...rest, patch };
          const incomplete = `the patch has ${patch.length} characters; the first ${MAX_PATCH_CHARS} are shown`;
          return { ...rest, patch: patch.slice(0, MAX_PATCH_CHARS), incomplete };
        },
      }),
      merge: action({
        summary: "Merge a workspace's branch into the project's branch, and push that to the source.",
        ...WRITE,
        intent: "ship",
        openWorld: true,
        input: One.extend({
          into: z.string().min(1).max(255).optional().describe("The project's branch when absent"),
          message: z.string().min(1).max(10_000).optional(),
          push: z.boolean().default(true),
        }),
        output: z.object({
          merged: z.boolean(),
          into: z.string(),
          commit: z.string().optional(),
          conflicts: z
            .array(z.string())
            .readonly()
            .describe("Files that both sides changed; nothing was merged"),
          pushed: z.boolean(),
          warning: z.string().optional().describe("Why it was not pushed"),
          note: z.string().optional(),
        }),
        errors: ["NOT_FOUND", "PROTECTED_PATH", "VCS_ERROR"],
        examples: [
          { title: "Into the project's branch", input: { workspace_id: EXAMPLE_ID }, fails: "NOT_FOUND" },
        ],
        projectOf,
        async run({ workspace_id, into, message, push }, { signal }) {
          const { workspace, project } = await open(workspace_id);
          const commit = await workspaces.collect(project, workspace, signal);
          const uncommitted = await workspaces.countUncommitted(project, workspace, signal);
          const left = uncommitted > 0 ? [uncommittedNote(uncommitted, "merged")] : [];
          await repositories.refresh(project, signal);
          if (commit === workspace.base) {
            const note = ["the workspace has no commits, so nothing was merged", ...left].join("; ");
            const target = into ?? (await repositories.branchOf(project));
            return { merged: false, into: target, conflicts: [], pushed: false, note };
          }
          const outcome = await repositories.merge(project, {
            commit,
            into,
            message: message ?? `Merge ${workspace.branch}`,
            check: (paths) => checkProtected(project, paths),
          });
          if (outcome.conflicts.length > 0) {
            await workspaces.giveBranch(project, workspace, outcome.into, signal);
            const next = `the workspace now has the branch as origin/${outcome.into}: session.message can ask its session to merge that, resolve the conflicts and commit; then merge again`;
            return { ...outcome, merged: false, pushed: false, note: [next, ...left].join("; ") };
          }
          options.onMerged(workspace);
          const refused = push ? await repositories.push(project, outcome.into, signal) : undefined;
          return {
            ...outcome,
            merged: true,
            pushed: push && refused === undefined,
            ...(refused !== undefined && { warning: `the branch was not pushed: ${refused}` }),
            ...(left.length > 0 && { note: left.join("; ") }),
          };
        },
      }),
    },
  });
};

const uncommittedNote = (files: number, done: "shown" | "merged"): string =>
  `${counted(files, "file")} of the workspace ${files === 1 ? "is" : "are"} in no commit and ${files === 1 ? "was" : "were"} not ${done}`;

const toView = ({ id, ...rest }: Workspace) => ({ ...rest, workspace_id: id });

function refuseActive(sessions: readonly string[]): void {
  if (sessions.length === 0) return;
  throw new ToolError(
    "LOCKED",
    `session ${sessions[0]} uses this workspace; end it with session.end first`,
    {},
  );
}
