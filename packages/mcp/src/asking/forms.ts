import type { Answer, Question } from "@octant/core";
import { isPlain } from "../messages.ts";
import type { InputRequest } from "./exchange.ts";

/** Whether the client's capabilities include showing a form. */
export function canShowForms(capabilities: unknown): boolean {
  const elicitation = isPlain(capabilities) ? capabilities["elicitation"] : undefined;
  if (!isPlain(elicitation)) return false;
  // Older revisions have no other mode and name none.
  return "form" in elicitation || !("url" in elicitation);
}

export const toElicitation = ({ message, form }: Question): InputRequest => ({
  method: "elicitation/create",
  params: { message, requestedSchema: form },
});

const ACTIONS: readonly unknown[] = ["accept", "decline", "cancel"] satisfies Answer["action"][];

/** The client's answer; undefined when it is not valid. */
export function toAnswer(value: unknown): Answer | undefined {
  if (!isPlain(value) || !ACTIONS.includes(value["action"])) return undefined;
  // It is one of the actions.
  const action = value["action"] as Answer["action"];
  return action === "accept" && isPlain(value["content"])
    ? { action, content: value["content"] }
    : { action };
}
