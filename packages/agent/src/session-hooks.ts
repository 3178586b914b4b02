/** The fields that a hook gets at each moment of a session, with the names of Claude Code. */
export interface MomentFields {
  readonly SessionStart: { readonly source: "startup" | "resume" | "clear" | "fork" | "compact" };
  readonly UserPromptSubmit: { readonly prompt: string };
  readonly Stop: StopFields;
  readonly SubagentStop: StopFields & MemberFields;
  readonly PreCompact: PreCompactFields & Partial<MemberFields>;
  readonly Notification: { readonly message: string; readonly notification_type: string };
  readonly SessionEnd: { readonly reason: "clear" | "prompt_input_exit" | "other" };
}
type StopFields = { readonly stop_hook_active: boolean; readonly last_assistant_message: string };
type PreCompactFields = { readonly trigger: "manual" | "auto"; readonly custom_instructions: string };
/** The sub-agent whose moment it is. */
export type MemberFields = { readonly agent_id: string; readonly agent_type: string };

/** The moments of a session at which hooks run. */
export type SessionMoment = keyof MomentFields;
/** A moment and its fields: testing the moment tells the compiler the fields. */
export type MomentArguments = {
  [M in SessionMoment]: [moment: M, fields: MomentFields[M]];
}[SessionMoment];

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
  fire<M extends SessionMoment>(
    moment: M,
    facts: { readonly subject?: string; readonly fields: MomentFields[M] },
    signal: AbortSignal,
  ): Promise<MomentOutcome>;
  /** Returns the hooks' notes for the model since the last call, such as about a tool's answer. */
  takeNotes(): readonly string[];
  /** Returns the hooks' warnings for the person since the last call. */
  takeWarnings(): readonly string[];
}

export const NO_HOOKS: SessionHooks = { fire: async () => ({}), takeNotes: () => [], takeWarnings: () => [] };
