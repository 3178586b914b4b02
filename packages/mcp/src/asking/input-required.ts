import { ToolError } from "@octant/core";
import type { McpRequest } from "../connection.ts";
import { invalidParams, isPlain, MISSING_CAPABILITY, type Plain, ProtocolError } from "../messages.ts";
import { type Exchange, type InputRequests, lackOf, type RequestClient } from "./exchange.ts";
import { canShowForms, isAnswer, toAnswer, toElicitation } from "./forms.ts";

const KEY = "answer";

/**
 * A client that answers no requests: its request ends with the required input, and the client repeats it with the
 * answers. The work then runs again and gets the answers in the order of its questions.
 */
export function toModernClient(request: McpRequest, log: Exchange["log"]): RequestClient {
  const { service, method, params, capabilities } = request;
  const { states, caller } = service;
  const { name, uri, arguments: args = {}, inputResponses, requestState } = params;
  // Answers for one thing cannot be used for another.
  const call = { caller: caller.id, subject: `${method} ${name ?? uri ?? ""}`, args };
  const known = requestState === undefined ? [] : states.open(requestState, call);
  if (!known) throw invalidParams("Invalid or expired requestState", { reason: "invalid_request_state" });
  const rounds = [...known];
  let round = 0;
  let required: InputRequests | undefined;
  let missing: Plain | undefined;

  const ask = async (inputs: InputRequests, responses: unknown): Promise<Plain> => {
    const before = rounds[round++];
    if (before) return before;
    const given = pick(responses, Object.keys(inputs));
    if (!given) {
      required = inputs;
      throw notYet();
    }
    rounds.push(given);
    return given;
  };
  return {
    async ask(question) {
      if (round >= rounds.length && !canShowForms(capabilities)) return undefined;
      // An answer counts only if this server asked for it before.
      const isAnswered =
        requestState !== undefined && isPlain(inputResponses) && isAnswer(inputResponses[KEY]);
      const answers = await ask({ [KEY]: toElicitation(question) }, isAnswered ? inputResponses : undefined);
      return toAnswer(question, answers[KEY]);
    },
    exchange: {
      capabilities,
      request: (inputs) => ask(inputs, inputResponses),
      require(needed) {
        missing = lackOf(needed, capabilities);
        if (missing) throw notYet();
      },
      log,
    },
    inputRequired() {
      if (missing) throw new ProtocolError(MISSING_CAPABILITY, MISSING, { requiredCapabilities: missing });
      return (
        required && {
          resultType: "input_required",
          inputRequests: required,
          requestState: states.seal({ ...call, answers: rounds }),
        }
      );
    },
  };
}

export const MISSING = "Missing required client capabilities";

const notYet = () =>
  new ToolError("APPROVAL_REQUIRED", "the client must provide input first", { by: "client" });

/** All of them, or nothing. */
function pick(responses: unknown, names: readonly string[]): Plain | undefined {
  if (!isPlain(responses) || !names.every((name) => Object.hasOwn(responses, name))) return undefined;
  return Object.fromEntries(names.map((name) => [name, responses[name]]));
}
