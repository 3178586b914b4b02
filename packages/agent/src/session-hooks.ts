/** The moments of a session at which hooks run, with the names of Claude Code. */
export type SessionMoment =
  | "SessionStart"
  | "UserPromptSubmit"
  | "Stop"
  | "SubagentStop"
  | "PreCompact"
  | "Notification"
  | "SessionEnd";

export interface MomentOutcome {
  /** Refuses the message, the end or the compaction, and says why. */
  readonly block?: string | undefined;
  /** Ends the run. */
  readonly stop?: string | undefined;
  /** For the model. */
  readonly context?: string | undefined;
  /** For the person. */
  readonly messages?: readonly string[] | undefined;
}

/** Runs hooks at the moments of a session. */
export interface SessionHooks {
  /** `subject` is what a matcher is about, such as the source of a start. */
  fire(
    moment: SessionMoment,
    facts: { readonly subject?: string; readonly fields: Readonly<Record<string, unknown>> },
    signal: AbortSignal,
  ): Promise<MomentOutcome>;
  /** Returns the hooks' notes for the model since the last call, such as about a tool's answer. */
  takeNotes(): readonly string[];
  /** Returns the hooks' warnings for the person since the last call. */
  takeWarnings(): readonly string[];
}

export const NO_HOOKS: SessionHooks = { fire: async () => ({}), takeNotes: () => [], takeWarnings: () => [] };
