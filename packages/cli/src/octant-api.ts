import type { Crew } from "@octant/agent";
import type {
  CallEvent,
  Caller,
  Client,
  Dispatch,
  DispatcherOptions,
  JobEvent,
  Mode,
  Registry,
  RegistryChange,
  Tool,
  Topic,
} from "@octant/core";
import type { Checkpoints, ProcessEvent, Workspace } from "@octant/host";
import type { HttpServer, TokenStore } from "@octant/http";
import type { Connection, HttpOptions, Outlet, Profile, StdioOptions, StdioServer } from "@octant/mcp";
import type {
  ApprovalEvent,
  Config,
  PermissionPrompter,
  PermissionRule,
  PermissionSetting,
  Policy,
  SessionAnswers,
} from "@octant/runtime";
import type { ActiveModes } from "@octant/tools";
import type { OwnTool } from "./own-tools.ts";
import type { ToolChoice } from "./tool-choice.ts";

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
  /** Allows looking and one kind of doing; everything when absent. Settings may narrow it further. */
  readonly mode?: Mode;
  /** Who asks the person: the host that started us (the default), or we. */
  readonly permissions?: PermissionSetting;
  /** How we ask; by default through the client that calls, or at `/approvals` where HTTP is served. */
  readonly prompter?: PermissionPrompter;
  /** What the person has allowed for this run; it lifts questions, never a deny. */
  readonly allow?: readonly PermissionRule[];
  /** Keeps the state of the files before commands, so that they can be undone; as the settings say when absent. */
  readonly checkpoints?: boolean;
  /** Where neither that nor the settings say; off when absent. */
  readonly checkpointsByDefault?: boolean;
  /** How long a call waits for an answer at `/approvals`; some minutes when absent. */
  readonly approvalTimeoutMs?: number;
  /** Of another workspace, whose policy holds here too; loaded for the roots when absent. */
  readonly config?: Config;
  /** How sub-agents are made; with the provider that environment and settings name when absent. */
  readonly crew?: (octant: Octant) => Crew;
  readonly env?: NodeJS.ProcessEnv;
  /** Where the keys of model providers are looked for; `env` when absent. */
  readonly keys?: NodeJS.ProcessEnv;
  /** Told, one line at a time, what a person should know. */
  readonly log?: (line: string) => void;
  /** Told of everything that became INTERNAL; by default it is logged. */
  readonly onBug?: DispatcherOptions["onBug"];
}

export interface HttpServing
  extends Partial<
    Pick<
      HttpOptions,
      "host" | "port" | "tls" | "oauth" | "sse" | "answers" | "allowedHosts" | "allowedOrigins" | "publicUrl"
    >
  > {
  readonly profile?: Profile;
}

/** What a console or a wire can follow, each from a known sequence number on. */
export interface Topics {
  readonly calls: Topic<CallEvent>;
  readonly approvals: Topic<ApprovalEvent>;
  readonly jobs: Topic<JobEvent>;
  readonly processes: Topic<ProcessEvent>;
  readonly tools: Topic<RegistryChange>;
}

/** A workspace with tools on it, ready to be called in process or served. */
export interface Octant<T extends Tool = OwnTool> extends AsyncDisposable {
  readonly registry: Registry;
  readonly dispatch: Dispatch;
  /** Calls tools that are not offered to clients, such as those of MCP servers, under the same policy. */
  dispatchTo(tools: Pick<Registry, "get" | "list">): Dispatch;
  readonly topics: Topics;
  readonly client: Client<T>;
  readonly workspace: Workspace;
  /** The sub-agents of this workspace. */
  readonly crew: () => Promise<Crew>;
  /** Undefined where they are off. */
  readonly checkpoints: Checkpoints | undefined;
  readonly config: Config;
  /** The developer modes, and which one each caller works in. */
  readonly modes: ActiveModes;
  /** Which rules decide about a call. */
  readonly rules: Policy;
  /** What the person decides for the rest of a session. */
  readonly sessionRules: SessionAnswers;
  /** Runs what the person typed themselves: recorded in the audit log, and not a matter of permissions. */
  dispatchAsPerson(tools: Pick<Registry, "get" | "list">): Dispatch;
  addTool(tool: Tool): void;
  removeTool(name: string): boolean;
  /** Serves one MCP client; over stdin and stdout unless told otherwise. */
  serveStdio(
    options?: Partial<Pick<StdioOptions, "input" | "output" | "instructions" | "answers" | "handshake">> & {
      profile?: Profile;
    },
  ): StdioServer;
  /** Serves MCP over HTTP and WebSocket to whoever has a token. */
  serveHttp(options?: HttpServing): Promise<HttpServer>;
  /** One MCP client of this caller, over a transport that the program brings. */
  openConnection(caller: Caller, outlet: Outlet): Connection;
  /** The bearer tokens of this workspace. */
  tokens(): TokenStore;
  close(): Promise<void>;
}
