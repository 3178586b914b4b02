import { action, type Caller, defineTool, invalidArgument, pagingInput } from "@octant/core";
import { z } from "zod";
import { checkLimits } from "../engines/check-limits.ts";
import type { ContainerEngine } from "../engines/engine.ts";
import type { HubStore } from "../store/hub-store.ts";
import { pageOf } from "../store/page-of.ts";
import {
  findProject,
  hasLabels,
  NewProject,
  newProjectId,
  type Project,
  ProjectChanges,
  ProjectId,
  ProjectLimits,
  ProjectView,
  toChanged,
  toProjectView,
} from "./project.ts";

export interface ProjectToolOptions {
  readonly store: HubStore;
  readonly engine: Pick<ContainerEngine, "status">;
  /** Gets the source: clones the URL, or checks the folder. */
  prepare(project: Project, ctx: { readonly signal: AbortSignal }): Promise<void>;
  /** Removes what the project has beyond its record; throws CONFIRM_REQUIRED when that would lose work. */
  dismantle(project: Project, options: { readonly force: boolean }): Promise<void>;
  /** Throws NOT_FOUND when its branch does not exist. */
  checkBranch(project: Project): Promise<void>;
  options(): Promise<z.input<typeof Options>>;
  /** Makes a new project this hub's; its place, undefined for a hub alone. */
  claimNew(project_id: string): Promise<string | undefined>;
  onCreated(project: Project): Promise<void>;
}

/** The choices for a new project. */
export const Options = z.object({
  engine: z.object({
    name: z.string(),
    available: z.boolean(),
    detail: z.string(),
    enforces: z.array(z.string()).readonly(),
  }),
  hosts: z
    .array(z.object({ name: z.string(), workspaces: z.int() }))
    .readonly()
    .describe("The machines that hold workspaces now"),
  models: z.array(z.string()).readonly(),
  default_model: z.string().optional(),
  default_limits: ProjectLimits,
  token_scopes: z.array(z.string()).readonly(),
});

const EXAMPLE_ID = "project_00mwhcy9qe093ycmtw78se8wgvd80rqnmr07";
const MAX_LISTED = 1_000;
const One = z.strictObject({ project_id: ProjectId });
const projectOf = ({ project_id }: { readonly project_id: string }) => project_id;

/** The tool `project`, and `project_options`, which is one of its actions by itself. */
export const projectTools = ({ store, engine, ...given }: ProjectToolOptions) => {
  const { prepare, dismantle, checkBranch, onCreated } = given;
  const projects = store.records<Project>("project");
  const options = action({
    summary: "What a new project can choose from: engine, models, limits, token scopes.",
    access: "read",
    timing: "sync",
    intent: "inspect",
    input: z.strictObject({}),
    output: Options,
    examples: [{ title: "All", input: {} }],
    run: given.options,
  });
  const project = defineTool({
    name: "project",
    summary: "Create and manage the projects of this hub.",
    actions: {
      create: action({
        summary: "Create a project from a git URL, a folder on the hub's machine, or empty.",
        access: "write",
        target: "global",
        timing: "async_medium",
        intent: "apply",
        openWorld: true,
        input: NewProject,
        output: ProjectView,
        errors: [
          ...(["ALREADY_EXISTS", "UNSUPPORTED", "UPSTREAM_ERROR", "VCS_ERROR"] as const),
          ...(["NOT_FOUND", "NOT_A_DIRECTORY", "NOT_A_REPOSITORY"] as const),
        ],
        examples: [{ title: "An empty project", input: { name: "hello" } }],
        async run({ name, source_url, folder, limits, ...settings }, { signal }) {
          if (source_url !== undefined && folder !== undefined)
            throw invalidArgument("folder", "give source_url or folder, not both");
          const source =
            source_url !== undefined
              ? { url: source_url }
              : folder !== undefined
                ? { folder }
                : { empty: true as const };
          const now = new Date().toISOString();
          const full = ProjectLimits.parse(limits ?? {});
          checkLimits(await engine.status(), full);
          const id = newProjectId();
          const project: Project = {
            ...settings,
            id,
            name,
            source,
            limits: full,
            place: await given.claimNew(id),
            partial: "new",
            created_at: now,
            updated_at: now,
          };
          await projects.add(project);
          try {
            await prepare(project, { signal });
          } catch (cause) {
            await projects.remove(project.id);
            throw cause;
          }
          await onCreated(project);
          return toProjectView(project);
        },
      }),
      list: action({
        summary: "The projects that this caller may see, newest first.",
        access: "read",
        timing: "sync",
        intent: "inspect",
        input: z.strictObject({
          name_contains: z.string().max(63).optional(),
          labels: z.record(z.string().max(64), z.string().max(256)).optional(),
          ...pagingInput(MAX_LISTED, MAX_LISTED),
        }),
        output: z.object({ projects: z.array(ProjectView).readonly() }),
        examples: [{ title: "All", input: {} }],
        async run({ name_contains = "", labels, limit }, ctx) {
          const seen = (await projects.list()).filter(
            (one) =>
              maySee(ctx.caller, one) && one.name.includes(name_contains) && hasLabels(one.labels, labels),
          );
          return { projects: pageOf(seen, limit, ctx).map(toProjectView) };
        },
      }),
      get: action({
        summary: "One project.",
        access: "read",
        timing: "sync",
        intent: "inspect",
        input: One,
        output: ProjectView,
        errors: ["NOT_FOUND"],
        examples: [{ title: "By id", input: { project_id: EXAMPLE_ID }, fails: "NOT_FOUND" }],
        projectOf,
        run: async ({ project_id }) => toProjectView(await findProject(store, project_id)),
      }),
      update: action({
        summary: "Change a project; absent fields stay as they are, and null removes one.",
        access: "write",
        target: "global",
        timing: "sync",
        intent: "apply",
        input: ProjectChanges.extend(One.shape),
        output: ProjectView,
        errors: ["NOT_FOUND", "UNSUPPORTED", "ALREADY_EXISTS"],
        examples: [
          { title: "Another model", input: { project_id: EXAMPLE_ID, model: "opus" }, fails: "NOT_FOUND" },
        ],
        projectOf,
        async run({ project_id, ...changes }) {
          const before = await findProject(store, project_id);
          const after = toChanged(before, changes);
          if (changes.limits) checkLimits(await engine.status(), after.limits);
          if (after.branch !== before.branch) await checkBranch(after);
          const changed = await projects.change(project_id, (project) => toChanged(project, changes));
          return toProjectView(changed ?? (await findProject(store, project_id)));
        },
      }),
      delete: action({
        summary: "Delete a project with its container, sessions and workspaces.",
        access: "admin",
        target: "global",
        timing: "async_short",
        intent: "apply",
        destructive: true,
        input: One.extend({
          force: z.boolean().default(false).describe("Also deletes commits that exist nowhere else"),
        }),
        output: z.object({ deleted: z.boolean() }),
        errors: ["NOT_FOUND", "CONFIRM_REQUIRED"],
        examples: [{ title: "By id", input: { project_id: EXAMPLE_ID }, fails: "NOT_FOUND" }],
        projectOf,
        async run({ project_id, force }) {
          // Also one whose creation or deletion a kill interrupted.
          const project = (await projects.get(project_id)) ?? (await findProject(store, project_id));
          await dismantle(project, { force });
          return { deleted: await projects.remove(project_id) };
        },
      }),
      options,
    },
  });
  const projectOptions = defineTool({
    name: "project_options",
    summary: "What a new project of this hub can choose from.",
    actions: { get: options },
  });
  return [project, projectOptions] as const;
};

const maySee = ({ project }: Caller, { id }: Project): boolean => project === undefined || project === id;
