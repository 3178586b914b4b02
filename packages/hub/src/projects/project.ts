import { isAbsolute } from "node:path";
import { handle, newHandle, ToolError } from "@octant/core";
import { PermissionRule } from "@octant/runtime";
import { z } from "zod";
import { NETWORKS } from "../engines/engine.ts";
import type { KeepsEvents } from "../lifecycle/kept-events.ts";
import type { HubStore } from "../store/hub-store.ts";

export const ProjectId = handle("project");
export const newProjectId = () => newHandle("project", Date.now());

const Name = z
  .string()
  .regex(
    /^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/,
    "a name is 1 to 63 letters, digits, dots, dashes and underscores",
  );
const HostName = z
  .string()
  .regex(
    /^(\*\.)?[A-Za-z0-9.-]{1,253}(:\d{1,5})?$/,
    "a host name, such as registry.npmjs.org, *.npmjs.org or localhost:8080",
  );
const EnvironmentName = z
  .string()
  .regex(/^[A-Za-z_][A-Za-z0-9_]{0,127}$/, "the name of an environment variable");

/** With a scheme, or as ssh writes it. git would take anything else for a path in the hub's own folder. */
const GIT_URL = /^(?:(?:https?|ssh|git|file):\/\/|(?:\w[\w.-]*@)?[A-Za-z0-9][\w.-]*:(?!:))\P{Cc}+$/u;

const LIMITS = {
  cpus: z.number().min(0.1).max(256).optional(),
  memory_mb: z.int().min(64).max(1_048_576).optional(),
  pids: z.int().min(16).max(65_536).optional(),
  disk_mb: z.int().min(16).max(16_777_216).optional(),
  network: z.enum(NETWORKS).describe("allow: only allow_hosts"),
  allow_hosts: z.array(HostName).max(200),
  wall_minutes: z.int().min(1).max(10_080).optional().describe("The longest run of a session"),
  max_sessions: z.int().min(1).max(1_000).describe("Sessions at work at once"),
  max_depth: z.int().min(0).max(10).describe("Generations of sessions that sessions spawn"),
  max_agents: z.int().min(1).max(1_000).describe("Sessions of one tree"),
  max_cost: z.number().min(0).max(100_000).optional().describe("US dollars of one tree"),
  idle_stop_minutes: z.int().min(1).max(10_080).describe("An idle container stops after this"),
  archive_days: z.int().min(1).max(3_650).describe("A stopped container is removed after this"),
  delete_days: z
    .int()
    .min(1)
    .max(3_650)
    .optional()
    .describe("Sessions that nobody used for so long are deleted, with workspaces whose work is merged"),
};

/** Budgets of a project's sessions and of its container. */
export const ProjectLimits = z.strictObject({
  ...LIMITS,
  network: LIMITS.network.default("none"),
  allow_hosts: LIMITS.allow_hosts.default([]),
  max_sessions: LIMITS.max_sessions.default(10),
  max_depth: LIMITS.max_depth.default(3),
  max_agents: LIMITS.max_agents.default(50),
  idle_stop_minutes: LIMITS.idle_stop_minutes.default(15),
  archive_days: LIMITS.archive_days.default(7),
});
export type ProjectLimits = z.output<typeof ProjectLimits>;

/** Absent limits stay as they are; null removes one. */
export const LimitChanges = z.strictObject({
  ...z.strictObject(LIMITS).partial().shape,
  cpus: LIMITS.cpus.nullable(),
  memory_mb: LIMITS.memory_mb.nullable(),
  pids: LIMITS.pids.nullable(),
  disk_mb: LIMITS.disk_mb.nullable(),
  wall_minutes: LIMITS.wall_minutes.nullable(),
  max_cost: LIMITS.max_cost.nullable(),
  delete_days: LIMITS.delete_days.nullable(),
});

const ServerName = z
  .string()
  .regex(
    /^(?!.*__)[A-Za-z0-9][\w.-]{0,59}$/,
    "a name is 1 to 60 letters, digits, dots, dashes and underscores, without '__'",
  );
const MAX_SERVERS = 32;
/** A program in the project's container that speaks MCP on its stdin and stdout. */
const McpServer = z.strictObject({
  command: z.string().min(1).max(4_096),
  args: z.array(z.string().max(4_096)).max(100).default([]),
  env: z.record(EnvironmentName, z.string().max(65_536)).default({}),
});
const McpServers = z
  .record(ServerName, McpServer)
  .refine((servers) => Object.keys(servers).length <= MAX_SERVERS, `at most ${MAX_SERVERS} servers`)
  .describe("MCP servers in the container, for its sessions; the values of env are never shown again");

/** The settings of a project that a person chooses. */
export const ProjectSettings = z.strictObject({
  description: z.string().max(2_000).optional(),
  branch: z
    .string()
    .min(1)
    .max(255)
    .optional()
    .describe("Sessions start from it; the default branch when absent"),
  image: z
    .string()
    .min(1)
    .max(255)
    .optional()
    .describe(
      "What devcontainer.json or Containerfile say when absent, else the programs of the hub's machine",
    ),
  ready_command: z
    .array(z.string().max(4_096))
    .min(1)
    .max(64)
    .optional()
    .describe("The container is ready when it exits with 0"),
  limits: ProjectLimits.optional(),
  secrets: z
    .record(EnvironmentName, z.string().max(65_536))
    .optional()
    .describe("Environment variables of the container; their values are never shown again"),
  model: z.string().min(1).max(200).optional(),
  protected_paths: z
    .array(z.string().min(1).max(1_024))
    .max(200)
    .optional()
    .describe("Globs that sessions must not change"),
  mcp_servers: McpServers.optional(),
  permissions: z.array(PermissionRule).max(500).optional(),
  labels: z.record(z.string().max(64), z.string().max(256)).optional(),
});
export type ProjectSettings = z.output<typeof ProjectSettings>;

/** Absent fields stay as they are; null removes one, and a secret or a label whose value is null. */
export const ProjectChanges = z.strictObject({
  name: Name.optional(),
  ...z.object(
    Object.fromEntries(
      Object.entries(ProjectSettings.shape).map(([field, schema]) => [field, schema.nullable()]),
      // The same fields, each of which may also be null.
    ) as { [F in keyof typeof ProjectSettings.shape]: z.ZodNullable<(typeof ProjectSettings.shape)[F]> },
  ).shape,
  limits: LimitChanges.optional(),
  secrets: z.record(EnvironmentName, z.string().max(65_536).nullable()).nullish(),
  labels: z.record(z.string().max(64), z.string().max(256).nullable()).nullish(),
});
export type ProjectChanges = z.output<typeof ProjectChanges>;

export const NewProject = ProjectSettings.extend({
  name: Name,
  source_url: z
    .string()
    .max(2_048)
    .regex(
      GIT_URL,
      "a git URL, such as https://example.com/demo.git or git@example.com:demo.git; folder names one of the hub's machine",
    )
    .optional()
    .describe("A git URL that the hub clones"),
  folder: z
    .string()
    .max(4_096)
    .refine(isAbsolute, "an absolute path on the hub's machine, such as /home/ann/demo")
    .optional()
    .describe("A git repository on the hub's machine"),
});

/** A project as it is stored. */
export interface Project extends Omit<ProjectSettings, "limits">, KeepsEvents {
  readonly id: string;
  readonly name: string;
  readonly source: { readonly url: string } | { readonly folder: string } | { readonly empty: true };
  readonly limits: ProjectLimits;
  /** The folder that has its repository and workspaces, where several hubs share a database. */
  readonly place?: string | undefined;
  /** The version of the image that hosts build for it; they build it again when it changes. */
  readonly image_version?: string | undefined;
  /** While it is created or deleted nothing else happens in it; a hub removes what a kill left of it. */
  readonly partial?: "new" | "closing" | "deleted" | undefined;
  readonly created_at: string;
  readonly updated_at: string;
}

/** The project after the changes. */
export function toChanged(project: Project, changes: ProjectChanges): Project {
  const { limits, secrets, labels, ...rest } = changes;
  return {
    // The required fields are not nullable, so they stay.
    ...(withoutNull({ ...project, ...rest }) as Omit<Project, "limits" | "secrets" | "labels">),
    secrets: secrets === null ? {} : withoutNull({ ...project.secrets, ...secrets }),
    labels: labels === null ? {} : withoutNull({ ...project.labels, ...labels }),
    limits: ProjectLimits.parse(withoutNull({ ...project.limits, ...limits })),
    updated_at: new Date().toISOString(),
  };
}

const withoutNull = <T extends object>(record: T): { [K in keyof T]: Exclude<T[K], null> } =>
  // What is left has no null.
  Object.fromEntries(Object.entries(record).filter(([, value]) => value !== null)) as {
    [K in keyof T]: Exclude<T[K], null>;
  };

/** Whether a thing has all of these labels. */
export const hasLabels = (
  labels: Readonly<Record<string, string>> | undefined,
  wanted: Readonly<Record<string, string>> = {},
): boolean => Object.entries(wanted).every(([key, value]) => labels !== undefined && labels[key] === value);

/** A project as callers see it: without the values of its secrets, and without a password in its URL. */
export const ProjectView = ProjectSettings.omit({ secrets: true, limits: true, mcp_servers: true }).extend({
  project_id: ProjectId,
  name: z.string(),
  source_url: z.string().optional(),
  folder: z.string().optional(),
  limits: ProjectLimits,
  secrets: z.array(z.string()).describe("Their names"),
  mcp_servers: z
    .record(z.string(), McpServer.extend({ env: z.array(z.string()).describe("Names of the variables") }))
    .optional(),
  created_at: z.string(),
  updated_at: z.string(),
});
export type ProjectView = z.output<typeof ProjectView>;

export function toProjectView(project: Project): ProjectView {
  const {
    id,
    source,
    secrets = {},
    mcp_servers,
    kept_events: _kept,
    place: _place,
    image_version: _version,
    partial: _partial,
    project_id: _none,
    ...rest
  } = project;
  const servers = Object.entries(mcp_servers ?? {}).map(
    ([name, server]) => [name, { ...server, env: Object.keys(server.env) }] as const,
  );
  return {
    ...rest,
    project_id: id,
    ...("url" in source && { source_url: withoutCredentials(source.url) }),
    ...("folder" in source && { folder: source.folder }),
    secrets: Object.keys(secrets),
    ...(mcp_servers && { mcp_servers: Object.fromEntries(servers) }),
  };
}

/** An HTTP user name may be a token; SSH needs the name, and has no password in its URL. */
const withoutCredentials = (url: string): string => url.replace(/^(https?:\/\/)[^/?#]*@/i, "$1");

export async function findProject(store: HubStore, id: string): Promise<Project> {
  const found = await store.records<Project>("project").get(id);
  if (found && !found.partial) return found;
  throw new ToolError("NOT_FOUND", `there is no project '${id}'; project.list shows them`, { id });
}
