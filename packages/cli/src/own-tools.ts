import { tmpdir } from "node:os";
import type { Mode, Registry } from "@octant/core";
import { createGit, isWithin, type Network, type Workspace } from "@octant/host";
import type { EffectiveSettings } from "@octant/runtime";
import { code, createDiagnosticsAfterEdit, fs, job, net, proc, search, test, vcs, ws } from "@octant/tools";
import type { CodeParts } from "./code-parts.ts";

/** What the tools stand on. */
export interface Parts {
  readonly workspace: Workspace;
  readonly registry: Registry;
  readonly network: Network;
  readonly code: CodeParts;
  readonly settings: EffectiveSettings;
  readonly version: string;
  readonly mode: Mode | undefined;
  readonly env: NodeJS.ProcessEnv;
}

/** The tools that come with Octant, in the order that clients see. */
export const OWN_TOOLS = {
  ws: (parts: Parts) =>
    ws({
      ...parts,
      sandbox: parts.workspace.sandbox,
      state: { kind: isTemporary(parts.workspace) ? "temporary" : "persistent" },
    }),
  fs: ({ workspace, code: { servers } }: Parts) =>
    fs(workspace, createDiagnosticsAfterEdit({ workspace, servers })),
  code: ({ workspace, code: { servers, engine } }: Parts) => code({ workspace, servers, index: engine }),
  proc: ({ workspace }: Parts) => proc(workspace),
  test: ({ workspace, env }: Parts) => test({ workspace, env }),
  vcs: ({ workspace, env, settings }: Parts) =>
    vcs({ ...workspace, git: createGit({ ...workspace, env, allow: settings.vcs }) }),
  net: ({ workspace, network, env }: Parts) =>
    net({ workspace, network, env, isRemote: ({ remote }) => remote === true }),
  search: ({ workspace, code: { engine } }: Parts) => search({ workspace, engine }),
  job: ({ workspace }: Parts) => job(workspace.jobs),
};

export type OwnTool = ReturnType<(typeof OWN_TOOLS)[keyof typeof OWN_TOOLS]>;

const isTemporary = ({ state }: Workspace) => isWithin(tmpdir(), state.path);

export const GROUPS = {
  core: ["ws", "fs", "code", "proc", "test", "vcs", "net", "search", "job"],
} as const satisfies Record<string, readonly (keyof typeof OWN_TOOLS)[]>;
