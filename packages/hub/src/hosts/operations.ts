import { PermissionRule } from "@octant/runtime";
import { z } from "zod";
import { ProjectLimits } from "../projects/project.ts";

const Environment = z.record(z.string(), z.string());

/** The facts about a project that a host needs to run its container. */
export const PlaceProject = z.object({
  id: z.string().regex(/^[\w-]{1,128}$/),
  name: z.string().max(64),
  limits: ProjectLimits,
  ready_command: z.array(z.string()).optional(),
  secrets: Environment.optional(),
  permissions: z.array(PermissionRule).default([]),
});
export type PlaceProject = z.output<typeof PlaceProject>;

const StreamId = z.string().regex(/^[\w-]{1,128}$/);
const None = z.object({});

/** The requests of a hub to the host that has a place. */
export const OPERATIONS = {
  /** The first request of a hub; repeated while it wants the place. */
  hello: None,
  /** Before the first command, and whenever the project has changed. */
  configure: z.object({ project: PlaceProject, image: z.string().optional(), env: Environment }),
  /** The files of the workspace are there. */
  seeded: None,
  /** The post-create commands have run. */
  prepared: None,
  exec: z.object({
    id: StreamId,
    /** Without one the tools of `cwd` are served. */
    argv: z.array(z.string()),
    cwd: z.string().optional(),
    env: Environment.optional(),
    tools: z.boolean(),
  }),
  kill: z.object({ id: StreamId }),
  start: None,
  stop: None,
  refresh: None,
  state: None,
  explain: None,
  new_hits: None,
  /** What happened to the container since the last time. */
  events: None,
  stats: None,
  logs: z.object({ tail: z.int().min(1), since_ms: z.number().optional() }),
  disk: None,
  has_image: z.object({ image: z.string() }),
  pull: z.object({ id: StreamId, image: z.string() }),
  build: z.object({
    id: StreamId,
    tag: z.string(),
    containerfile: z.string(),
    buildArgs: Environment.optional(),
    target: z.string().optional(),
    network: z.enum(["none", "on"]),
  }),
  close: None,
} as const;

export type OperationName = keyof typeof OPERATIONS;

/** The answer to `hello`. */
export interface Hello {
  readonly engine: {
    readonly name: string;
    readonly detail: string;
    readonly images: boolean;
    readonly enforces: readonly string[];
    readonly available: boolean;
  };
  /** The path of Node in a container. */
  readonly node: string;
  readonly is_seeded: boolean;
  /** The host's disk has no room for another workspace. */
  readonly is_full: boolean;
  readonly is_prepared: boolean;
}
