import type { Answers, Dispatch, Registry } from "@octant/core";
import { createFileChanges, pathToUri, type Watcher, type Workspace } from "@octant/host";
import type { ServiceOptions } from "@octant/mcp";
import { createRemoteFollowing, createRemoteJobs } from "../edge/remote-features.ts";
import { createCallFor } from "./calls.ts";
import { type CompletionParts, createCompletions, type FindRefs } from "./completions.ts";
import { createFollowing, type Following } from "./following.ts";
import { createPrompts } from "./prompts.ts";
import { createResources } from "./resources.ts";

export interface FeatureParts {
  readonly registry: Registry;
  readonly dispatch: Dispatch;
  readonly workspace: Pick<Workspace, "jobs" | "confinement" | "processes" | "files">;
  readonly watcher: Watcher;
  readonly refs?: FindRefs;
}

type McpFeatures = Pick<ServiceOptions, "title" | "description" | "icons"> &
  Required<Pick<ServiceOptions, "resources" | "prompts" | "completions" | "tasks">>;

/** The resources, prompts and completions that Octant offers an MCP client besides its tools. */
export function createMcpFeatures(parts: FeatureParts): McpFeatures {
  const { registry, dispatch, workspace, watcher, refs } = parts;
  const call = createCallFor(dispatch);
  const changes = createFileChanges({ ...workspace, watcher });
  const following = createFollowing(registry, call, {
    ...workspace,
    changes,
    list: { ...workspace, watcher },
  });
  const [root = "/"] = workspace.confinement.roots;
  return {
    ...createFeatures({ registry, call, root: pathToUri(root), ...(refs && { refs }) }, following),
    tasks: workspace.jobs,
  };
}

export interface EdgeParts {
  readonly registry: Registry;
  readonly dispatch: Dispatch;
  /** The URI of the first root of the workspace; without it paths are not completed. */
  readonly root: string | undefined;
  readonly answers: Answers | undefined;
}

/** The same from an edge whose tools are in another process. */
export function createEdgeFeatures({ registry, dispatch, root, answers }: EdgeParts): McpFeatures {
  const call = createCallFor(dispatch);
  const refs: FindRefs = async (ctx) =>
    registry.get("vcs")?.actions["branch"]
      ? ((await call(ctx, "vcs", "branch", { op: "list" })).data.branches ?? []).map(({ name }) => name)
      : [];
  return {
    ...createFeatures({ registry, call, root: root ?? "file://", refs }, createRemoteFollowing(dispatch)),
    tasks: createRemoteJobs(dispatch, { text: answers !== "structured" }),
  };
}

const createFeatures = (parts: CompletionParts, following: Following) => ({
  ...ABOUT,
  resources: createResources(parts.registry, parts.call, following),
  prompts: createPrompts(parts.registry),
  completions: createCompletions(parts),
});

/** An eighth of a circle. */
const ICON = Buffer.from(
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24"><path d="M3 21V3a18 18 0 0 1 12.7 5.3z" fill="#e4572e"/></svg>',
).toString("base64");

const ABOUT = {
  title: "Octant",
  description: "Files, code, processes, tests and history of a project, for agents.",
  icons: [{ src: `data:image/svg+xml;base64,${ICON}`, mimeType: "image/svg+xml", sizes: ["any"] }],
};
