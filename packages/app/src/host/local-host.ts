import type { ToolHost } from "@octant/agent";
import { attempt } from "@octant/core";
import { pathToUri } from "@octant/host";
import { loadHostContext } from "../agent/agent-context.ts";
import { loadMarkdown, MARKDOWN_FOLDERS } from "../agent/markdown-files.ts";
import { createTurns } from "../agent/undo.ts";
import type { Octant } from "../octant-api.ts";

/** The tools of this process as a session needs them. */
export const createLocalHost = (octant: Octant, env: NodeJS.ProcessEnv): ToolHost => ({
  registry: octant.registry,
  dispatch: octant.dispatch,
  dispatchTo: octant.dispatchTo,
  roots: octant.workspace.confinement.roots.map(pathToUri),
  jobs: octant.workspace.jobs,
  turns: createTurns(octant),
  diffOf: async (undo_ref) => attempt(() => octant.workspace.edits.diffOf(undo_ref)) ?? "",
  context: () => loadHostContext(octant, env),
  markdown: (kind) => loadMarkdown(octant, env, MARKDOWN_FOLDERS[kind]),
});
