import type { Caller, Context, Dispatch, FormBody } from "@octant/core";
import type { ServiceOptions } from "@octant/mcp";

export type EdgeDispatch = ServiceOptions["dispatch"];
export type Exchange = NonNullable<Parameters<EdgeDispatch>[1]["exchange"]>;
type InputRequest = Parameters<Exchange["request"]>[0][string];

/** Passes the edge's exchange of a call to the called tool: every call has its own caller object. */
export function createExchanges(): { wrap(dispatch: Dispatch): EdgeDispatch; of(ctx: Context): Exchange } {
  const lent = new WeakMap<Caller, Exchange>();
  return {
    wrap: (dispatch) => (call, options) => {
      const caller = { ...options.caller };
      if (options.exchange) lent.set(caller, options.exchange);
      return dispatch(call, { ...options, caller });
    },
    of({ caller }) {
      const exchange = lent.get(caller);
      if (!exchange)
        throw new Error("the edge lent no exchange to a tool that is declared to use the client");
      return exchange;
    },
  };
}

export const elicit = ({ message, schema }: FormBody): InputRequest => ({
  method: "elicitation/create",
  params: { message, requestedSchema: schema },
});

export const sample = (prompt: string, maxTokens: number): InputRequest => ({
  method: "sampling/createMessage",
  params: { messages: [{ role: "user", content: { type: "text", text: prompt } }], maxTokens },
});

export const roots: InputRequest = { method: "roots/list", params: {} };
