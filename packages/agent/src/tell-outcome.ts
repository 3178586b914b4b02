import { textOf, textParts, type UserPart } from "./messages.ts";
import type { Session } from "./session.ts";
import type { MomentOutcome, SessionHooks } from "./session-hooks.ts";

/** Gives the model and the person what a hook says to them. */
export async function tellOutcome(
  session: Session,
  { context, messages = [] }: MomentOutcome,
): Promise<void> {
  for (const text of messages) await session.append({ type: "notice", level: "warning", text });
  if (context) await session.append({ type: "user", origin: "context", content: textParts(context) });
}

/** Adds a message of the person, unless a hook refuses it; then its reason is returned. */
export async function submitPrompt(
  session: Session,
  hooks: SessionHooks,
  content: readonly UserPart[],
  signal: AbortSignal,
): Promise<string | undefined> {
  const outcome = await hooks.fire("UserPromptSubmit", { fields: { prompt: textOf(content) } }, signal);
  const { block, stop } = outcome;
  const refused = block ?? stop;
  await tellOutcome(session, refused === undefined ? outcome : { messages: outcome.messages });
  if (refused !== undefined) return `a hook refused the message: ${refused}`;
  await session.append({ type: "user", origin: "person", content });
  return undefined;
}
