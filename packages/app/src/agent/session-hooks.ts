import {
  type MemberFields,
  type MomentArguments,
  type MomentFields,
  type MomentOutcome,
  type Session,
  type SessionHooks,
  toClaudeTranscript,
} from "@octant/agent";
import type { Octant } from "../octant-api.ts";

/** A function of your code that runs at a moment of a session. */
export type OnMoment = (
  ...at: MomentArguments
) => Promise<MomentOutcome | undefined> | MomentOutcome | undefined;

/** The hooks of the settings, then those of the program that embeds the agent. */
export function createSessionHooks(
  { hooks }: Pick<Octant, "hooks">,
  session: Pick<Session, "id" | "conversation">,
  onMoment?: OnMoment,
): SessionHooks {
  const { id } = session;
  hooks.setTranscript(id, () => toClaudeTranscript(session));
  return {
    async fire(moment, { subject = "", fields }, signal) {
      const set = await hooks.fire(moment, { session: id, subject, fields }, signal);
      if (set.block !== undefined || set.stop !== undefined) return set;
      // The fields are those of the moment; TypeScript does not see that in a generic function.
      const own = await onMoment?.(...([moment, fields] as MomentArguments));
      const context = [set.context, own?.context].filter(Boolean).join("\n");
      const messages = [...(set.messages ?? []), ...(own?.messages ?? [])];
      return { ...own, ...(context !== "" && { context }), ...(messages.length > 0 && { messages }) };
    },
    takeNotes: () => hooks.takeNotes(id),
    takeWarnings: () => hooks.takeWarnings(id),
  };
}

/** For a sub-agent: its end has another name, and it has no start, end or messages of the person. */
export const forMember = (hooks: SessionHooks, agent: MemberFields): SessionHooks => ({
  ...hooks,
  async fire(moment, { subject, fields: given }, signal) {
    if (moment !== "Stop" && moment !== "PreCompact") return {};
    const renamed = moment === "Stop" ? "SubagentStop" : "PreCompact";
    // Those of that moment; TypeScript does not see that in a generic function.
    const fields = { ...given, ...agent } as MomentFields[typeof renamed];
    return hooks.fire(renamed, { ...(subject !== undefined && { subject }), fields }, signal);
  },
});
