import { tmpdir } from "node:os";
import { agentTool, type Crew, llmTool, type Models } from "@octant/agent";
import { MAX_ANSWER_BYTES, type Mode, type Registry, type Tool, type Topics } from "@octant/core";
import {
  type Checkpoints,
  createGit,
  isWithin,
  MAX_EDIT_BYTES,
  MAX_FILES,
  MAX_HASHED_BYTES,
  MAX_IMAGE_BYTES,
  MAX_PATCH_BYTES,
  MAX_PATCH_LINES,
  MAX_RUNNING,
  MAX_SEARCH_MS,
  MAX_STDIN_BYTES,
  type Workspace,
} from "@octant/host";
import {
  type Config,
  collectSecrets,
  createInstructionTrust,
  createRedactor,
  DEFAULT_TOOLS,
  type EffectiveSettings,
  explainConfig,
} from "@octant/runtime";
import {
  type ActiveModes,
  code,
  config,
  createDiagnosticsAfterEdit,
  event,
  fs,
  job,
  memory,
  mode,
  net,
  type OpenMemories,
  plan,
  proc,
  search,
  test,
  think,
  ui,
  vcs,
  workspaceTools,
  ws,
} from "@octant/tools";
import { createRecall, withMemories } from "../agent/recall.ts";
import { createSkillSource } from "../skills/skill-source.ts";
import type { createMachineParts } from "./machine-parts.ts";

/** The dependencies of the tools. */
export interface Parts extends Omit<ReturnType<typeof createMachineParts>, "close"> {
  readonly workspace: Workspace;
  readonly checkpoints: Checkpoints | undefined;
  readonly registry: Registry;
  /** The sub-agents, created on first use. */
  readonly crew: () => Promise<Crew>;
  /** The models, created on first use. */
  readonly models: () => Promise<Models>;
  readonly settings: EffectiveSettings;
  readonly config: Config;
  readonly modes: ActiveModes;
  readonly topics: Topics;
  readonly openMemories: OpenMemories | undefined;
  readonly version: string;
  readonly mode: Mode | undefined;
  readonly env: NodeJS.ProcessEnv;
}

/** The built-in tools, in the order that clients see. */
export const OWN_TOOLS = {
  ws: (parts: Parts) =>
    ws({
      ...parts,
      sandbox: parts.workspace.sandbox,
      limits: LIMITS,
      skills: createSkillSource({ roots: parts.workspace.confinement.roots, env: parts.env }),
      state: { kind: isTemporary(parts.workspace) ? "temporary" : "persistent" },
    }),
  fs: ({ workspace, code: { servers } }: Parts) =>
    fs(workspace, createDiagnosticsAfterEdit({ workspace, servers })),
  code: ({ workspace, code: { servers, engine, parsers } }: Parts) =>
    code({ workspace, servers, index: engine, parsers }),
  proc: ({ workspace, checkpoints }: Parts) => {
    const { confinement, processes, sandbox } = workspace;
    return proc({ confinement, processes, sandbox, ...(checkpoints && { checkpoints }) });
  },
  test: ({ workspace, env }: Parts) => test({ workspace, env }),
  vcs: (parts: Parts) => vcs({ ...parts.workspace, git: gitOf(parts) }),
  net: ({ workspace, network, env, settings }: Parts) =>
    net({ workspace, network, env, search: settings.net_search, isRemote: ({ remote }) => remote === true }),
  ui: (parts: Parts) => ui({ ...parts, isRemote: ({ remote }) => remote === true }),
  search: ({ workspace, code: { engine }, registry }: Parts) =>
    search({ workspace, engine, recall: withMemories(registry, createRecall(workspace)) }),
  job: ({ workspace }: Parts) => job(workspace.jobs),
  event: ({ topics }: Parts) => event(topics),
  config: ({ config: loaded }: Parts) =>
    config(() =>
      explainConfig(loaded).map(({ key, value, origin }) => ({ key, value, source: origin.tier })),
    ),
  ...fromWorkspace(workspaceTools),
  agent: ({ crew }: Parts) => agentTool(crew),
  memory: ({ workspace, code: { parsers, embedder }, env, settings, openMemories }: Parts) => {
    const redact = createRedactor({ secrets: collectSecrets(env, settings) });
    const { shared } = settings.memory;
    return memory({
      workspace,
      parsers,
      shared,
      loadTrust: () => createInstructionTrust({ env }),
      holdsSecret: (text) => redact(text) !== text,
      openMemories,
      ...(embedder && { embedder }),
    });
  },
  mode: ({ modes }: Parts) => mode(modes),
  llm: ({ models }: Parts) => llmTool(models),
  think: ({ workspace }: Parts) => think(workspace),
  plan: (parts: Parts) => plan({ workspace: parts.workspace, git: gitOf(parts) }),
};

const gitOf = ({ workspace, env, settings }: Parts) => createGit({ ...workspace, env, allow: settings.vcs });

type Maker = (workspace: Workspace) => Tool;

function fromWorkspace<M extends Record<string, Maker>>(makers: M) {
  const rows = Object.entries(makers).map(([name, make]) => [name, (parts: Parts) => make(parts.workspace)]);
  // The rows have the names and results of the makers; fromEntries loses both types.
  return Object.fromEntries(rows) as { [Name in keyof M]: (parts: Parts) => ReturnType<M[Name]> };
}

export type OwnTool = ReturnType<(typeof OWN_TOOLS)[keyof typeof OWN_TOOLS]>;

/** Limits that a caller would otherwise learn from a refusal. */
const LIMITS = {
  max_answer_bytes: MAX_ANSWER_BYTES,
  max_edit_bytes: MAX_EDIT_BYTES,
  max_hashed_bytes: MAX_HASHED_BYTES,
  max_image_bytes: MAX_IMAGE_BYTES,
  max_patch_bytes: MAX_PATCH_BYTES,
  max_patch_files: MAX_FILES,
  max_patch_lines: MAX_PATCH_LINES,
  max_running_processes: MAX_RUNNING,
  max_search_ms: MAX_SEARCH_MS,
  max_stdin_bytes: MAX_STDIN_BYTES,
};

export const isTemporary = ({ state }: Workspace) => isWithin(tmpdir(), state.path);

export const GROUPS = {
  store: ["cas", "artifact", "annotation", "config", "graph"],
  wire: ["event"],
  agents: ["agent", "memory", "plan", "think", "mode", "llm"],
  /** The agent's tools besides the core. */
  notes: ["plan", "think", "memory", "agent"],
  core: DEFAULT_TOOLS,
  ui: ["ui"],
} as const satisfies Record<string, readonly (keyof typeof OWN_TOOLS)[]>;
