import { type Answer, type CallOptions, type Question, ToolError } from "@octant/core";
import { isPlain, type Plain } from "../messages.ts";
import { canShowForms, toAnswer, toFormParams } from "./forms.ts";
import type { StateSeal } from "./request-state.ts";

/**
 * Asks a client of the modern revision, which answers no requests: the call ends with the question, and the client
 * makes it once more, with the answer. So what asks is run anew, and gets the answers in the order of its questions.
 */
export interface InputRequired {
  readonly ask: NonNullable<CallOptions["ask"]>;
  /** The result that puts the question; undefined when nothing had to be asked. */
  result(): Plain | undefined;
}

export interface RetriedCall {
  readonly caller: string;
  readonly tool: string;
  readonly args: unknown;
  readonly capabilities: unknown;
  /** Members of a retry, as the client sent them. */
  readonly inputResponses: unknown;
  readonly requestState: unknown;
}

const KEY = "answer";

/** Undefined when the state that came with a retry is not one that was given for this call. */
export function createInputRequired(call: RetriedCall, states: StateSeal): InputRequired | undefined {
  const { caller, tool, args, capabilities, inputResponses, requestState } = call;
  const before = requestState === undefined ? [] : states.open(requestState, { caller, tool, args });
  if (!before) return undefined;
  const given =
    requestState !== undefined && isPlain(inputResponses) ? toAnswer(inputResponses[KEY]) : undefined;
  const answers: readonly Answer[] = given ? [...before, given] : before;
  let asked = 0;
  let open: Question | undefined;
  return {
    async ask(question) {
      const answer = answers[asked++];
      if (answer || !canShowForms(capabilities)) return answer;
      open = question;
      throw new ToolError("APPROVAL_REQUIRED", "the person has to be asked first", { by: "client" });
    },
    result: () =>
      open && {
        resultType: "input_required",
        inputRequests: { [KEY]: { method: "elicitation/create", params: toFormParams(open) } },
        requestState: states.seal({ caller, tool, args, answers }),
      },
  };
}
