import type { z } from "zod";
import type { Builtins } from "./builtins.ts";
import type { CallOptions, Dispatch } from "./dispatch.ts";
import type { Envelope } from "./envelope.ts";
import { ToolError } from "./errors.ts";
import type { AnyAction, Tool } from "./tool.ts";

/** All actions that a tool answers to: its own, and the built-ins that it does not declare itself. */
export type ActionsOf<T extends Tool> = T["actions"] & Omit<Builtins, keyof T["actions"]>;

type ActionCall<A extends AnyAction> = (
  input: z.input<A["input"]>,
  options?: Partial<CallOptions>,
) => Promise<z.output<A["output"]>>;

/** `client.fs.read({ uri })` answers with the data of fs.read, or throws the ToolError. */
export type Client<T extends Tool> = {
  readonly [X in T as X["name"]]: { readonly [K in keyof ActionsOf<X>]: ActionCall<ActionsOf<X>[K]> };
};

/** Every request that the tools take, as one union. */
export type ToolRequest<T extends Tool> = {
  [X in T as X["name"]]: {
    [K in keyof ActionsOf<X>]: {
      readonly tool: X["name"];
      readonly action: K;
      readonly input: z.input<ActionsOf<X>[K]["input"]>;
    };
  }[keyof ActionsOf<X>];
}[T["name"]];

/** The envelope that a request is answered with. */
export type ToolResponse<T extends Tool, R extends { tool: string; action: PropertyKey }> = Envelope<
  z.output<
    ActionsOf<Extract<T, { name: R["tool"] }>>[R["action"] &
      keyof ActionsOf<Extract<T, { name: R["tool"] }>>]["output"]
  >
>;

/** A typed face on a dispatcher, local or behind an edge. */
export function createClient<T extends Tool>(dispatch: Dispatch, defaults: CallOptions): Client<T> {
  const call = (tool: string, action: string) => async (input: unknown, options?: Partial<CallOptions>) => {
    const { envelope } = await dispatch({ tool, action, input }, { ...defaults, ...options });
    if (envelope.ok) return envelope.data;
    throw new ToolError(envelope.error.code, envelope.error.message, envelope.error.details);
  };
  const tool = (name: string) => new Proxy({}, { get: (_, action) => call(name, String(action)) });
  // The proxy accepts every tool and action; the registry decides which of them exist, and Client<T> declares them.
  return new Proxy({}, { get: (_, name) => (name === "then" ? undefined : tool(String(name))) }) as Client<T>;
}
