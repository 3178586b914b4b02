import type { Crew, Spending } from "@octant/agent";
import type {
  Caller,
  Client,
  Dispatch,
  DispatcherOptions,
  Mode,
  Profile,
  Questions,
  Registry,
  Tool,
  Topics,
} from "@octant/core";
import type { Blobs, Checkpoints, Workspace } from "@octant/host";
import type { HttpServer, TokenCheck, TokenStore } from "@octant/http";
import type { Connection, HttpOptions, Outlet, StdioOptions, StdioServer } from "@octant/mcp";
import type {
  AuditLog,
  Config,
  EventHooks,
  PermissionRule,
  PermissionSetting,
  Policy,
  SessionAnswers,
  WorkingTree,
} from "@octant/runtime";
import type { ActiveModes, OpenMemories } from "@octant/tools";
import type { SessionRoster } from "./control/session-roster.ts";
import type { Control } from "./control/start-control.ts";
import type { Packs } from "./packs/packs.ts";
import type { OwnTool } from "./tools/own-tools.ts";
import type { ToolChoice } from "./tools/tool-choice.ts";

/** Their owner closes them, after the Octant that uses them. */
export interface Stores {
  /** Replaced contents and long answers. */
  readonly blobs?: Blobs | undefined;
  /** The log of calls. */
  readonly audit?: AuditLog | undefined;
  /** The memories of the project and those of all projects. */
  readonly memory?: OpenMemories | undefined;
}

export interface OctantOptions<T extends Tool = Tool> extends ToolChoice {
  /** Distinguishes this client from others. */
  readonly name?: string;
  /** The text about the server that clients and models read before the first call; about a project when absent. */
  readonly about?: { readonly description: string; readonly instructions: string };
  readonly version?: string;
  /** The folder to work in, when there is only one; the current one by default. */
  readonly projectPath?: string;
  /** The folders to work in. A path without a scheme is relative to the first. */
  readonly roots?: readonly string[];
  /** Additional tools, declared with `defineTool`. */
  readonly customTools?: readonly T[];
  /** Folders or names of packs whose tools `openOctant` adds, besides those of the settings; none at all when absent. */
  readonly packs?: readonly string[] | undefined;
  /** Allows reading and one kind of action; everything when absent. Settings may narrow it further. */
  readonly mode?: Mode;
  /** A person can switch the mode of a session, so `plan` is where it begins. */
  readonly switchesModes?: boolean;
  /** `host`: the host that started us asks the person for permission (the default). `enforce`: Octant asks. */
  readonly permissions?: PermissionSetting;
  /** The questions of another workspace, which are answered together with those of this one. */
  readonly questions?: Questions;
  /** Rules that the person allowed for this run; they lift questions, never a deny. */
  readonly allow?: readonly PermissionRule[];
  /**
   * Stores the state of the files before commands, so that they can be undone; from the settings when absent.
   */
  readonly checkpoints?: boolean;
  /** The default when neither the option nor the settings say; off when absent. */
  readonly checkpointsByDefault?: boolean;
  /** How long a call waits for an answer at `/approvals`; some minutes when absent. */
  readonly approvalTimeoutMs?: number;
  /**
   * The configuration of another workspace, whose policy applies here too; loaded for the roots when absent.
   */
  readonly config?: Config;
  /** Where this process stores what it keeps, beside sessions; each in the state folder when absent. */
  readonly stores?: Stores;
  /** The first root is another working tree of this project, whose rules apply to the copies of its files. */
  readonly copyOf?: WorkingTree;
  /** Creates the sub-agents; by default with the provider from environment and settings. */
  readonly crew?: (octant: Octant) => Crew;
  readonly env?: NodeJS.ProcessEnv;
  /** The environment with the API keys of model providers; `env` when absent. */
  readonly keys?: NodeJS.ProcessEnv;
  /** The front end itself shows that nothing confines commands; otherwise the log says so before the first one. */
  readonly tellsUnconfined?: boolean | undefined;
  /** Receives messages for the person, one line at a time. */
  readonly log?: (line: string) => void;
  /**
   * Lets the person's other processes see this one under the name of this command: `octant ps`, `watch` and `answer`.
   * Without it no person can be asked.
   */
  readonly command?: string | undefined;
  /** Receives every exception that became INTERNAL; logged by default. */
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
  /** Other tokens than those of this workspace. */
  readonly tokens?: TokenCheck;
  /** The project of accepted tokens; this workspace when absent. */
  readonly project?: string;
}

export type StdioServing = Partial<
  Pick<StdioOptions, "input" | "output" | "instructions" | "answers" | "handshake">
> & { readonly profile?: Profile };

/** A workspace with its tools, ready to be called in process or served. */
export interface Octant<T extends Tool = OwnTool> extends AsyncDisposable {
  readonly registry: Registry;
  /** The packs of the options and settings; `openOctant` loads them. */
  readonly packs: Packs;
  readonly dispatch: Dispatch;
  /** The same for ZeroMQ and NATS servers, whose edges need the jobs and changes behind tasks and subscriptions too. */
  readonly wireDispatch: Dispatch;
  /** Calls tools that are not listed to clients, such as those of MCP servers, under the same policy. */
  dispatchTo(tools: Pick<Registry, "get" | "list">): Dispatch;
  /** Everything that happens here, each readable by name and from a known sequence number on. */
  readonly topics: Topics;
  /** The agent's open sessions. */
  readonly sessions: SessionRoster;
  /** Present when the person's other processes can see this one. */
  readonly control: Control | undefined;
  readonly client: Client<T>;
  readonly workspace: Workspace;
  /** The sub-agents of this workspace. */
  readonly crew: () => Promise<Crew>;
  /** The cost of models, counted for the session that called them. */
  readonly spending: Spending;
  /** undefined where they are off. */
  readonly checkpoints: Checkpoints | undefined;
  /** The stores from the options, and the audit log in use. */
  readonly stores: Stores;
  readonly config: Config;
  /** The developer modes and each caller's current one. */
  readonly modes: ActiveModes;
  /** The kinds of calls that options and settings allow; all when undefined. */
  readonly fixedMode: Mode | undefined;
  /** The rules that decide about calls. */
  readonly rules: Policy;
  /** The person's decisions for the rest of a session. */
  readonly sessionRules: SessionAnswers;
  /** The hooks of the settings for the moments of a session. */
  readonly hooks: EventHooks;
  /** The questions that wait for a person. */
  readonly questions: Questions;
  /** Runs the person's own commands: recorded in the audit log, but not subject to permissions. */
  dispatchAsPerson(tools: Pick<Registry, "get" | "list">): Dispatch;
  /** For calls of tools that only show a person something: policy applies, and they are not recorded or published. */
  dispatchLooking(tools: Pick<Registry, "get" | "list">): Dispatch;
  /** The same for what a person only looks at: neither recorded nor published as a call. */
  dispatchUnrecorded(tools: Pick<Registry, "get" | "list">): Dispatch;
  addTool(tool: Tool): void;
  removeTool(name: string): boolean;
  /** Serves one MCP client, over stdin and stdout by default. */
  serveStdio(options?: StdioServing): StdioServer;
  /** Serves MCP over HTTP and WebSocket to clients with a token. */
  serveHttp(options?: HttpServing): Promise<HttpServer>;
  /** Opens a connection for one MCP client of this caller, over the given transport. */
  openConnection(caller: Caller, outlet: Outlet): Connection;
  /** The bearer tokens of this workspace. */
  tokens(): TokenStore;
  close(): Promise<void>;
}
