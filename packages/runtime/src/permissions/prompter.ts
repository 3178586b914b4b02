import type { Caller, Context } from "@octant/core";
import type { Decision } from "./policy.ts";
import type { PermissionRule } from "./rule.ts";

export interface PermissionRequest {
  /** `fs.write` or `mcp__server__tool`. */
  readonly name: string;
  /** The action's summary. */
  readonly summary: string;
  readonly input: Readonly<Record<string, unknown>>;
  /** What would change, such as a diff. */
  readonly preview?: string | undefined;
  /** Why the person is asked. */
  readonly decision: Decision;
  readonly caller: Caller;
  /** Shows the waiting caller that the question is still open. */
  readonly progress: Context["progress"];
  readonly signal: AbortSignal;
  /** Whether an answer that was given meanwhile, to another question, covers this one too. */
  isCovered(): boolean;
  /** The rule that "always" would write. Without it that answer is not offered: it could not take effect. */
  readonly always?: PermissionRule | undefined;
  /** The rule that "session" would follow; without it that answer is about exactly this call. */
  readonly session?: PermissionRule | undefined;
  /** The person answers this with a text instead of a yes. Only a prompter that `reads` such answers is asked so. */
  readonly question?: string | undefined;
  /** The texts that answer the question, when there are only a few. */
  readonly choices?: readonly string[] | undefined;
}

/** A form or an address that an MCP server wants to show to the person. */
export interface FormRequest {
  readonly server: string;
  readonly message: string;
  /** A JSON Schema of flat fields. */
  readonly schema?: Readonly<Record<string, unknown>>;
  readonly url?: string;
}

export interface FormAnswer {
  readonly action: "accept" | "decline" | "cancel";
  readonly content?: Record<string, string | number | boolean | string[]>;
}

/** `by` names who answered, if not the person at the caller; `text` answers a question. */
export type PermissionAnswer =
  | { readonly answer: "once" | "session" | "always"; readonly by?: string; readonly text?: string }
  | { readonly answer: "deny"; readonly reason?: string | undefined; readonly by?: string }
  /** No one could be asked or answered; the reason says what the caller can do. */
  | { readonly answer: "unattended"; readonly reason?: string };

export interface PermissionPrompter {
  /** Whether it can ask for any text, or let the person choose one of a few. */
  readonly reads?: "text" | "choices";
  /** Shows a form as a whole; undefined when this one cannot be shown here. */
  showForm?(form: FormRequest, signal: AbortSignal): Promise<FormAnswer> | undefined;
  requestPermission(request: PermissionRequest): Promise<PermissionAnswer>;
}

/** For unattended runs: calls that need approval are refused. */
export const unattended: PermissionPrompter = {
  requestPermission: async () => ({ answer: "unattended" }),
};
