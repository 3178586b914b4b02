import type { Answer, Question } from "@octant/core";
import { isPlain, type Plain } from "../messages.ts";

/** Whether what a client said of itself in its capabilities means that it can show a form. */
export function canShowForms(capabilities: unknown): boolean {
  const elicitation = isPlain(capabilities) ? capabilities["elicitation"] : undefined;
  if (!isPlain(elicitation)) return false;
  // Older revisions knew no other mode, and named none.
  return "form" in elicitation || !("url" in elicitation);
}

/** What `elicitation/create` takes. */
export const toFormParams = ({ message, form }: Question): Plain => ({ message, requestedSchema: form });

const ACTIONS: readonly unknown[] = ["accept", "decline", "cancel"] satisfies Answer["action"][];

/** What a client gave as the answer; undefined when it is none. */
export function toAnswer(value: unknown): Answer | undefined {
  if (!isPlain(value) || !ACTIONS.includes(value["action"])) return undefined;
  // It is one of the actions.
  const action = value["action"] as Answer["action"];
  return action === "accept" && isPlain(value["content"])
    ? { action, content: value["content"] }
    : { action };
}
