import type { Ask, ErrorCode, Progress } from "@octant/core";
import type { ToolDefinition } from "./api-client.ts";
import type { UserPart } from "./messages.ts";
import type { PlanMark } from "./tools/plan-marks.ts";

/** A call with parsed arguments. */
export interface ToolCall {
  readonly id: string;
  readonly name: string;
  readonly input: Readonly<Record<string, unknown>>;
}

export interface ExecuteOptions {
  readonly sessionId: string;
  readonly signal: AbortSignal;
  /** The front end that shows the questions of the call. */
  readonly ask: Ask;
  readonly onProgress: (update: Progress) => void;
}

export interface ToolResult {
  /** The text for the model. */
  readonly content: readonly UserPart[];
  readonly is_error: boolean;
  readonly code?: ErrorCode;
  /** For front ends and the ledger; the model never sees it. */
  readonly facts?: ToolFacts;
}

/** A changed file, for the ledger and front ends. */
export interface ChangedFile {
  /** Relative to the workspace where possible. */
  readonly path: string;
  /** null when it was removed. */
  readonly hash: string | null;
}

export interface ToolFacts {
  readonly changed?: readonly ChangedFile[];
  /** Files whose content the model has seen. */
  readonly read?: readonly ChangedFile[];
  readonly diff?: string;
  /** Reverts the change when passed to fs.apply_patch. */
  readonly undo_ref?: string;
  /** Continues after the answer. */
  readonly job_id?: string;
  readonly proc_id?: string;
  readonly exit_code?: number | null;
  readonly plan?: PlanMark;
}

/** The kind of a call, for front ends; the words are those of ACP. */
export type ToolKind =
  | "read"
  | "edit"
  | "delete"
  | "move"
  | "search"
  | "execute"
  | "think"
  | "fetch"
  | "switch_mode"
  | "other";

/** How a call is shown and scheduled before it runs. */
export interface CallOutline {
  /** One line, such as `fs.read src/a.ts`. */
  readonly title: string;
  readonly kind: ToolKind;
  /** It is read-only, so it may run in parallel. */
  readonly reads_only: boolean;
  /** It may run in parallel although it is not read-only. */
  readonly parallel?: true;
  /** Its files, for editors that follow along. */
  readonly paths: readonly string[];
}

/** Tools by name. A failing call does not throw; the failure is a result for the model. */
export interface ToolSource {
  /** In a fixed order: new tools come last, and none is removed during a session. */
  definitions(): readonly ToolDefinition[];
  outline(call: ToolCall): CallOutline;
  /** The call under its real name and arguments; unchanged when it has them or is unknown. */
  resolve?(call: ToolCall): ToolCall;
  execute(call: ToolCall, options: ExecuteOptions): Promise<ToolResult>;
}

/** A layer round every call of a session; `next` may be given another call, or be called again. */
export type CallStep = (
  call: ToolCall,
  outline: CallOutline,
  next: (call: ToolCall) => Promise<ToolResult>,
) => Promise<ToolResult>;

/** Everything that a session needs to call tools. */
export interface ToolExecutor extends ToolSource {
  /** Whether a tool that is not offered is understood. */
  knows?(name: string): boolean;
  /** Text for the model about files changed since its last request; one per request. */
  afterEdits?(changed: readonly ChangedFile[], signal: AbortSignal): Promise<string | undefined>;
}
