import { type Attachment, type Client, type Dispatch, type Paging, ToolError } from "@octant/core";
import type { ServiceOptions } from "@octant/mcp";
import type { OwnTool } from "../tools/own-tools.ts";

export type ResourceSource = NonNullable<ServiceOptions["resources"]>;
export type PromptSource = NonNullable<ServiceOptions["prompts"]>;
export type CompletionSource = NonNullable<ServiceOptions["completions"]>;
export type FeatureContext = Parameters<CompletionSource>[1];
/** The client of a request, and whether it can ask the person. */
export type Asking = Pick<FeatureContext, "caller" | "signal" | "ask">;

type Face = Client<OwnTool>;
type InputOf<N extends keyof Face, A extends keyof Face[N]> = Face[N][A] extends (input: infer I) => unknown
  ? I
  : never;
/** The output type of the action. */
export type OutputOf<N extends keyof Face, A extends keyof Face[N]> = Face[N][A] extends (
  ...given: never[]
) => Promise<infer O>
  ? O
  : never;

export interface Called<D> {
  readonly data: D;
  readonly paging: Paging;
  readonly attachments: readonly Attachment[];
}

/** Calls a tool on behalf of the client, so that the same permissions apply as for a direct call. */
export type CallFor = <N extends keyof Face, A extends keyof Face[N] & string>(
  ctx: Asking,
  tool: N,
  action: A,
  input: InputOf<N, A>,
) => Promise<Called<OutputOf<N, A>>>;

export const createCallFor =
  (dispatch: Dispatch): CallFor =>
  async ({ caller, signal, ask }, tool, action, input) => {
    const call = { tool, action, input };
    const { envelope, attachments } = await dispatch(call, { caller, signal, ...(ask && { ask }) });
    const { ok, data, error, meta } = envelope;
    if (!ok) throw new ToolError(error.code, error.message, error.details);
    // The dispatcher has validated the data against the action's output schema.
    return { data: data as OutputOf<typeof tool, typeof action>, paging: meta.paging, attachments };
  };
