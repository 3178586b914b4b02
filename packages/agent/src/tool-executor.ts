import type { ErrorCode, Progress } from "@octant/core";
import type { PermissionPrompter } from "@octant/runtime";
import type { ToolDefinition } from "./api-client.ts";
import type { UserPart } from "./messages.ts";
import type { PlanMark } from "./tools/plan-marks.ts";

/** A call whose arguments were JSON. */
export interface ToolCall {
  readonly id: string;
  readonly name: string;
  readonly input: Readonly<Record<string, unknown>>;
}

export interface ExecuteOptions {
  readonly sessionId: string;
  readonly signal: AbortSignal;
  /** Asked when the policy wants a person's answer. */
  readonly prompter: PermissionPrompter;
  readonly onProgress: (update: Progress) => void;
}

export interface ToolResult {
  /** What the model reads. */
  readonly content: readonly UserPart[];
  readonly is_error: boolean;
  readonly code?: ErrorCode;
  /** For front ends and the ledger; the model never sees it. */
  readonly facts?: ToolFacts;
}

/** A file that a call changed, as the ledger and front ends know it. */
export interface ChangedFile {
  /** Relative to the workspace where it lies in it. */
  readonly path: string;
  /** Null when it is gone. */
  readonly hash: string | null;
}

export interface ToolFacts {
  readonly changed?: readonly ChangedFile[];
  /** Files whose content the model has seen. */
  readonly read?: readonly ChangedFile[];
  readonly diff?: string;
  /** Takes the change back when given to fs. */
  readonly undo_ref?: string;
  /** Goes on after the answer. */
  readonly job_id?: string;
  readonly proc_id?: string;
  readonly exit_code?: number | null;
  readonly plan?: PlanMark;
}

/** What kind of work a call is, for front ends; the words are those of ACP. */
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
  /** It only looks, so it may run beside others. */
  readonly reads_only: boolean;
  /** Files it is about, for editors that follow along. */
  readonly paths: readonly string[];
}

/** Runs tools by name. It never throws for what a call did wrong; that is a result for the model. */
export interface ToolExecutor {
  /** In a fixed order: new tools come last, and none goes while a session lasts. */
  definitions(): readonly ToolDefinition[];
  outline(call: ToolCall): CallOutline;
  execute(call: ToolCall, options: ExecuteOptions): Promise<ToolResult>;
  /** What the model should know about files that were changed since it was last asked; one text per request. */
  afterEdits?(changed: readonly ChangedFile[], signal: AbortSignal): Promise<string | undefined>;
}
