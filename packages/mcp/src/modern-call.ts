import { createInputRequired } from "./asking/input-required.ts";
import { CAPABILITIES_KEY } from "./client-claims.ts";
import { type CallParams, type CallRequest, isCallParams, RETRY_MEMBERS } from "./direct-calls.ts";
import { errorLine, INVALID_PARAMS, type Message, type Plain, type RequestId } from "./messages.ts";
import type { Results } from "./results.ts";
import type { Service } from "./service.ts";

/** Whether it is a tools/call that is not for the SDK. */
export const isModernCall = (
  message: Message,
  service: Service,
): message is Message & { readonly params: Plain & CallParams } =>
  message.method === "tools/call" &&
  isCallParams(message.params, RETRY_MEMBERS) &&
  !service.isForSdk(message.params.name, message.meta?.[CAPABILITIES_KEY]);

/** Undefined when the call brings a state that was not given for it. */
export function toModernCall(
  id: RequestId,
  { params, meta }: Message & { readonly params: Plain & CallParams },
  service: Service,
  results: Results,
): CallRequest | undefined {
  const { name: tool, arguments: args = {}, inputResponses, requestState } = params;
  const asking = createInputRequired(
    {
      ...{ caller: service.caller.id, tool, args, inputResponses, requestState },
      capabilities: meta?.[CAPABILITIES_KEY],
    },
    service.states,
  );
  if (!asking) return undefined;
  const question = () => {
    const result = asking.result();
    return result && results.question(result);
  };
  return { id, params, meta, stamp: results.modernStamp, asking: { ask: asking.ask, question } };
}

export const refuseState = (id: RequestId): string =>
  errorLine(id, INVALID_PARAMS, "Invalid or expired requestState", { reason: "invalid_request_state" });
