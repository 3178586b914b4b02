import type { Agent, CallStep, SessionInfo, StampedEvent } from "@octant/agent";
import type { Ask, RefReader, SessionMode, Tool } from "@octant/core";

/** The services that the protocol needs from its host program: workspaces, agents and their logs. */
export interface AcpHost {
  readonly version: string;
  /** Throws UNAUTHENTICATED when no provider has credentials. */
  checkCredentials(): Promise<void>;
  open(request: OpenRequest): Promise<OpenedSession>;
  /** The sessions of all workspaces, newest first. */
  list(): Promise<readonly SessionInfo[]>;
  /** Removes a stored session, if there is one with this id. */
  remove(sessionId: string): Promise<void>;
}

export interface OpenRequest {
  /** Absolute paths; the first is the working folder. */
  readonly roots: readonly string[];
  /** The session to continue; a new one when absent. */
  readonly resume?: string;
  /** The id of the new one. */
  readonly create?: string;
  readonly mcpServers: readonly ClientMcpServer[];
  readonly ask: Ask;
  /** Tools that the editor adds. */
  readonly tools: readonly Tool[];
  /** Layers round the calls of the session. */
  steps(files: WorkspaceFiles): readonly CallStep[];
}

/** An MCP server that the client passes in. */
export type ClientMcpServer =
  | {
      readonly name: string;
      readonly command: string;
      readonly args: readonly string[];
      readonly env: Readonly<Record<string, string>>;
    }
  | {
      readonly name: string;
      readonly type: "http" | "sse";
      readonly url: string;
      readonly headers: Readonly<Record<string, string>>;
    };

/** The files of a session's workspace, for comparison with the editor's buffers. */
export interface WorkspaceFiles {
  /** The absolute path of a URI inside the workspace; undefined for anything else. */
  pathOf(uri: string): string | undefined;
  /** undefined when it is not a readable text file. */
  readText(path: string): string | undefined;
  addRefScheme(scheme: string, read: RefReader): void;
  /** Every edit of the workspace takes these into account from now on. */
  useBuffers(buffers: EditorBuffers): void;
  /** Returns a function that gives an undo ref for what calls have changed since; undefined when nothing has. */
  observe(): () => Promise<string | undefined>;
  /** The changes to text files behind an undo ref. */
  diffsOf(undoRef: string): readonly FileDiff[];
}

/** The text that the person has open in the editor. */
export interface EditorBuffers {
  /** The text as it would be saved; undefined when it is not open, or equals the file. */
  unsaved(path: string): Promise<string | undefined>;
  /** Saves it; false when the editor cannot. */
  save(path: string, text: string): Promise<boolean>;
}

export interface ModelChoice {
  readonly id: string;
  readonly name: string;
}

/** A file before and after a call; null when it did not exist. */
export interface FileDiff {
  readonly path: string;
  readonly oldText: string | null;
  readonly newText: string;
  readonly operation: "add" | "modify" | "delete";
  /** The same as a git-style patch. */
  patch(): string;
}

/** A slash command. */
export interface SessionCommand {
  readonly name: string;
  readonly description: string;
  /** A hint for the text after the name. */
  readonly hint?: string;
}

/** Settings and instructions of the project; they take effect in a session that is opened after the trust. */
export interface TrustRequest {
  /** All of it, in lines. */
  readonly lines: readonly string[];
  trust(): Promise<void>;
  /** Remembers the answer until the content changes. */
  decline(): void;
}

/** An agent on a workspace. */
export interface OpenedSession extends AsyncDisposable {
  readonly commands: readonly SessionCommand[];
  /** Runs a line such as "/compact": returns text for the person, or a message to send to the model instead. */
  command(line: string, signal: AbortSignal): Promise<{ readonly text?: string; readonly send?: string }>;
  readonly agent: Agent;
  /** Finds what waits for the person's trust; undefined when nothing does, or they have declined exactly this. */
  findUntrusted(): Promise<TrustRequest | undefined>;
  readonly mode: SessionMode;
  setMode(mode: SessionMode): void;
  /** The model of the next answer. */
  readonly modelId: string;
  readonly models: readonly ModelChoice[];
  useModel(id: string): Promise<void>;
  events(): AsyncIterable<StampedEvent>;
  /** Absolute paths, for locations. */
  pathOf(uri: string): string | undefined;
  /** The changes to text files behind an undo ref. */
  diffsOf(undoRef: string): readonly FileDiff[];
}
