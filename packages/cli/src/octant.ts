import { tmpdir } from "node:os";
import { resolve } from "node:path";
import {
  type Caller,
  type Client,
  createClient,
  createCursors,
  createDispatcher,
  createRegistry,
  type Dispatch,
  type DispatcherOptions,
  type Mode,
  type Registry,
  type Tool,
} from "@octant/core";
import { createWorkspace, isWithin, type Workspace } from "@octant/host";
import { type Profile, type StdioOptions, type StdioServer, serveStdio } from "@octant/mcp";
import { fs, job, proc, test, ws } from "@octant/tools";
import { chooseNames, type ToolChoice, withoutDisabled } from "./tool-choice.ts";
import { loadVersion } from "./version.ts";

export interface OctantOptions<T extends Tool = Tool> extends ToolChoice {
  /** How a client is told apart from others. */
  readonly name?: string;
  readonly version?: string;
  /** The folder to work in, when it is only one; the current one by default. */
  readonly projectPath?: string;
  /** The folders to work in. A path without a scheme is taken from the first. */
  readonly roots?: readonly string[];
  /** Tools beside ours, declared with `defineTool`. */
  readonly customTools?: readonly T[];
  /** Allows looking and one kind of doing; everything when absent. */
  readonly mode?: Mode;
  readonly env?: NodeJS.ProcessEnv;
  /** Told, one line at a time, what a person should know. */
  readonly log?: (line: string) => void;
  /** Told of everything that became INTERNAL; by default it is logged. */
  readonly onBug?: DispatcherOptions["onBug"];
}

/** A workspace with tools on it, ready to be called in process or served. */
export interface Octant<T extends Tool = OwnTool> extends AsyncDisposable {
  readonly registry: Registry;
  readonly dispatch: Dispatch;
  readonly client: Client<T>;
  readonly workspace: Workspace;
  addTool(tool: Tool): void;
  removeTool(name: string): boolean;
  /** Serves one MCP client; over stdin and stdout unless told otherwise. */
  serveStdio(
    options?: Partial<Pick<StdioOptions, "input" | "output" | "instructions">> & { profile?: Profile },
  ): StdioServer;
  close(): Promise<void>;
}

/** The tools that come with Octant. */
export type OwnTool = ReturnType<(typeof OWN_TOOLS)[keyof typeof OWN_TOOLS]>;

/** Who calls from this machine: the person who started the process, or a client of theirs. */
export const LOCAL_CALLER: Caller = { id: "local", access: "admin" };

interface Parts {
  readonly workspace: Workspace;
  readonly registry: Registry;
  readonly version: string;
  readonly mode: Mode | undefined;
  readonly env: NodeJS.ProcessEnv;
}

/** In the order that clients see. */
const OWN_TOOLS = {
  ws: (parts: Parts) =>
    ws({
      ...parts,
      sandbox: SANDBOX,
      state: { kind: isTemporary(parts.workspace) ? "temporary" : "persistent" },
    }),
  fs: ({ workspace }: Parts) => fs(workspace),
  proc: ({ workspace }: Parts) => proc(workspace),
  test: ({ workspace, env }: Parts) => test({ workspace, env }),
  job: ({ workspace }: Parts) => job(workspace.jobs),
};

const SANDBOX = {
  level: "off",
  detail: "fs is confined to the roots; commands of proc run with all rights of this user",
} as const;

const isTemporary = ({ state }: Workspace) => isWithin(tmpdir(), state.path);

const GROUPS = { core: ["ws", "fs", "proc", "test", "job"] } as const satisfies Record<
  string,
  readonly (keyof typeof OWN_TOOLS)[]
>;

/** Puts workspace, tools and dispatcher together. Throws a TypeError when the options name what does not exist. */
export function createOctant<T extends Tool = never>(options: OctantOptions<T> = {}): Octant<OwnTool | T> {
  const { projectPath = process.cwd(), roots = [projectPath], env = process.env, log = () => {} } = options;
  const names = chooseNames(options, Object.keys(OWN_TOOLS), GROUPS);
  const workspace = createWorkspace({ roots: roots.map((root) => resolve(root)), env, warn: log });
  try {
    return equip(workspace, names, { ...options, env, log });
  } catch (cause) {
    void workspace.close();
    throw cause;
  }
}

function equip<T extends Tool>(
  workspace: Workspace,
  names: readonly string[],
  options: OctantOptions<T> & Pick<Required<OctantOptions>, "env" | "log">,
): Octant<OwnTool | T> {
  const { name = "octant", version = loadVersion(), mode, customTools = [], env, log } = options;
  const registry = createRegistry([]);
  // chooseNames gave back only names of OWN_TOOLS.
  const own = names.map((tool) =>
    OWN_TOOLS[tool as keyof typeof OWN_TOOLS]({ workspace, registry, version, mode, env }),
  );
  for (const tool of withoutDisabled([...own, ...customTools], options.toolConfig?.disable))
    registry.addTool({ version, ...tool });
  const dispatch = createDispatcher({
    registry,
    cursors: createCursors(workspace.state.secret()),
    mode,
    jobs: workspace.jobs,
    onBug: options.onBug ?? logBug(log),
  });
  const edge = {
    registry,
    dispatch,
    name,
    version,
    instructions: INSTRUCTIONS,
    mode,
    caller: LOCAL_CALLER,
    log,
  };
  let closing: Promise<void> | undefined;
  const close = () => (closing ??= workspace.close());
  return {
    registry,
    dispatch,
    client: createClient(dispatch, { caller: LOCAL_CALLER }),
    workspace,
    addTool: registry.addTool,
    removeTool: registry.removeTool,
    serveStdio: ({ input = process.stdin, output = process.stdout, ...more } = {}) =>
      serveStdio({ ...edge, input, output, ...more }),
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** What a model should know before its first call. */
const INSTRUCTIONS = [
  "Call ws.detect first: it tells what the project is and how it is built and tested.",
  "fs.read answers with a hash; fs.apply_patch wants it as base_hash, and its answer has an undo ref.",
  "An answer with meta.job_id is still at work: job.poll waits for its result.",
  "What does not fit is behind a ref (fs.read) or meta.paging.cursor. Every tool has help and schema.",
].join(" ");

const logBug =
  (log: (line: string) => void): DispatcherOptions["onBug"] =>
  ({ traceId, call, cause }) =>
    log(
      `bug in ${call.tool}.${call.action}, trace_id ${traceId}: ${cause instanceof Error ? cause.stack : cause}`,
    );
