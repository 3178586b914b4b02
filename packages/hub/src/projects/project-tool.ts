import { action, type Caller, defineTool, invalidArgument, ToolError } from "@octant/core";
import { z } from "zod";
import type { ContainerEngine } from "../engines/engine.ts";
import type { HubStore } from "../store/hub-store.ts";
import {
  findProject,
  NewProject,
  newProjectId,
  type Project,
  ProjectId,
  ProjectLimits,
  ProjectSettings,
  ProjectView,
  toProjectView,
} from "./project.ts";

export interface ProjectToolOptions {
  readonly store: HubStore;
  readonly engine: Pick<ContainerEngine, "status">;
  /** Gets the source: clones the URL, or checks the folder. */
  prepare(project: Project, ctx: { readonly signal: AbortSignal }): Promise<void>;
  /** Removes what the project has beyond its record; throws CONFIRM_REQUIRED when that would lose work. */
  dismantle(project: Project, options: { readonly force: boolean }): Promise<void>;
  options(): Promise<z.input<typeof Options>>;
}

/** What a new project can choose from. */
export const Options = z.object({
  engine: z.object({
    name: z.string(),
    available: z.boolean(),
    detail: z.string(),
    enforces: z.array(z.string()).readonly(),
  }),
  models: z.array(z.string()).readonly(),
  default_model: z.string().optional(),
  default_limits: ProjectLimits,
  token_scopes: z.array(z.string()).readonly(),
});

const EXAMPLE_ID = "project_00mwhcy9qe093ycmtw78se8wgvd80rqnmr07";
const MAX_LISTED = 1_000;
const One = z.strictObject({ project_id: ProjectId });
const projectOf = ({ project_id }: { readonly project_id: string }) => project_id;

export const projectTool = ({ store, engine, prepare, dismantle, options }: ProjectToolOptions) => {
  const projects = store.records<Project>("project");
  const checkLimits = async (limits: ProjectLimits) => {
    const { enforces, name } = await engine.status();
    const asked = [
      ...(["cpus", "memory_mb", "pids", "disk_mb"] as const).filter((limit) => limits[limit] !== undefined),
      `network:${limits.network}` as const,
    ];
    const missing = asked.find((one) => !enforces.includes(one));
    if (missing === undefined) return;
    throw new ToolError("UNSUPPORTED", `the engine ${name} does not enforce ${missing}`, {
      what: `${missing} on the engine ${name}`,
      how: "leave it out, or start the hub with another engine (octant hub --engine)",
    });
  };
  return defineTool({
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
        errors: ["ALREADY_EXISTS", "UNSUPPORTED", "UPSTREAM_ERROR"],
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
          await checkLimits(full);
          const project: Project = {
            ...settings,
            id: newProjectId(),
            name,
            source,
            limits: full,
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
          label: z.string().max(320).optional().describe("key or key=value"),
        }),
        output: z.object({ projects: z.array(ProjectView).readonly() }),
        examples: [{ title: "All", input: {} }],
        async run({ name_contains = "", label }, { caller }) {
          const seen = (await projects.list({ limit: MAX_LISTED })).filter(
            (one) => maySee(caller, one) && one.name.includes(name_contains) && hasLabel(one, label),
          );
          return { projects: seen.map(toProjectView) };
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
        summary: "Change the settings of a project; absent fields stay as they are.",
        access: "write",
        target: "global",
        timing: "sync",
        intent: "apply",
        input: ProjectSettings.extend(One.shape),
        output: ProjectView,
        errors: ["NOT_FOUND", "UNSUPPORTED"],
        examples: [
          { title: "Another model", input: { project_id: EXAMPLE_ID, model: "opus" }, fails: "NOT_FOUND" },
        ],
        projectOf,
        async run({ project_id, limits, ...changes }) {
          if (limits) await checkLimits(limits);
          await findProject(store, project_id);
          const changed = await projects.change(project_id, (project) => ({
            ...project,
            ...changes,
            limits: limits ?? project.limits,
            secrets: { ...project.secrets, ...changes.secrets },
            updated_at: new Date().toISOString(),
          }));
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
          await dismantle(await findProject(store, project_id), { force });
          return { deleted: await projects.remove(project_id) };
        },
      }),
      options: action({
        summary: "What a new project can choose from: engine, models, limits, token scopes.",
        access: "read",
        timing: "sync",
        intent: "inspect",
        input: z.strictObject({}),
        output: Options,
        examples: [{ title: "All", input: {} }],
        run: options,
      }),
    },
  });
};

const maySee = ({ project }: Caller, { id }: Project): boolean => project === undefined || project === id;

function hasLabel({ labels = {} }: Project, wanted: string | undefined): boolean {
  if (wanted === undefined) return true;
  const [key = "", ...value] = wanted.split("=");
  if (!Object.hasOwn(labels, key)) return false;
  return value.length === 0 || labels[key] === value.join("=");
}
