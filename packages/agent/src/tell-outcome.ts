import { withoutMentioned } from "./context/mentions.ts";
import { textOf, textParts, type UserPart } from "./messages.ts";
import type { Session } from "./session.ts";
import type { MomentOutcome, SessionHooks } from "./session-hooks.ts";

/** Passes a hook's messages on to the model and the person. */
export async function tellOutcome(
  session: Session,
  { context, messages = [] }: MomentOutcome,
): Promise<void> {
  for (const text of messages) await session.append({ type: "notice", level: "warning", text });
  if (context) await session.append({ type: "user", origin: "context", content: textParts(context) });
}

/** Adds the person's message to the session; returns the reason when a hook refuses it. */
export async function submitPrompt(
  session: Session,
  hooks: SessionHooks,
  content: readonly UserPart[],
  signal: AbortSignal,
): Promise<string | undefined> {
  const outcome = await hooks.fire(
    "UserPromptSubmit",
    { fields: { prompt: textOf(withoutMentioned(content)) } },
    signal,
  );
  const { block, stop } = outcome;
  const refused = block ?? stop;
  await tellOutcome(session, refused === undefined ? outcome : { messages: outcome.messages });
  if (refused !== undefined) return `a hook refused the message: ${refused}`;
  await session.append({ type: "user", origin: "person", content });
  return undefined;
}
