import {
  type Call,
  type Caller,
  type CallOptions,
  createDescribe,
  type Describe,
  type Envelope,
  type JsonSchema,
  ownAction,
  type Reply,
  toInputSchema,
} from "@octant/core";
import { pathToUri } from "@octant/host";
import type { WireClient } from "@octant/wire";
import { LOCAL_CALLER } from "./edges.ts";
import type { Octant } from "./octant.ts";
import type { OwnTool } from "./tools/own-tools.ts";

export interface TargetCall extends Omit<CallOptions, "caller"> {
  readonly signal: AbortSignal;
  /** Receives the bytes that accompany the answer. */
  readonly onBinary: (bytes: Uint8Array) => Promise<void> | void;
}

/** The destination of a call: tools in this process, or a server. */
export interface CallTarget extends AsyncDisposable {
  /** Formats the answer for a person. */
  readonly describe: Describe;
  /** Empty for an action that does not exist; the dispatcher reports that. */
  inputSchema(tool: string, action: string): Promise<JsonSchema>;
  call(call: Call, options: TargetCall): Promise<Reply>;
  /** Waits for the job when the answer is one. */
  outcomeOf(answer: Envelope, signal: AbortSignal): Promise<Envelope>;
}

const LONGEST_TIMER_MS = 2 ** 31 - 1;

export const toLocalTarget = (octant: Octant<OwnTool>, caller: Caller = LOCAL_CALLER): CallTarget => ({
  describe: createDescribe(octant.registry, octant.workspace.confinement.roots.map(pathToUri)),
  async inputSchema(tool, action) {
    const found = octant.registry.get(tool);
    const act = found && ownAction(found, action);
    return act ? toInputSchema(act) : {};
  },
  async call(call, { onBinary, ...options }) {
    const reply = await octant.dispatch(call, { ...options, caller });
    for await (const bytes of reply.binary?.read() ?? []) await onBinary(bytes);
    return reply;
  },
  async outcomeOf(answer, signal) {
    const { job_id } = answer.meta;
    if (job_id === undefined) return answer;
    const { jobs } = octant.workspace;
    await jobs.ended(caller.id, job_id, LONGEST_TIMER_MS, signal);
    return (await jobs.result(caller.id, job_id)) ?? answer;
  },
  [Symbol.asyncDispose]: () => octant.close(),
});

/** The tools of a server; paths are shown relative to the root. */
export const toRemoteTarget = (client: WireClient, rootUri: string): CallTarget =>
  toServerTarget(
    {
      dispatch: (call, options) => client.dispatch(call, options),
      close: () => client.close(),
      async inputSchema(tool, action) {
        const { declarations = [] } = await client.ready({ declarations: true });
        const actions = declarations.find(({ name }) => name === tool)?.actions ?? {};
        return (Object.hasOwn(actions, action) && actions[action]?.input) || {};
      },
    },
    rootUri,
  );

/** A server in another process, over any protocol. */
export interface ServerClient extends Pick<CallTarget, "inputSchema"> {
  dispatch(call: Call, options: Partial<TargetCall>): Promise<Reply>;
  close(): void | Promise<void>;
}

export const toServerTarget = (client: ServerClient, rootUri: string): CallTarget => ({
  describe: describeFrom(rootUri),
  inputSchema: client.inputSchema,
  call: (call, options) => client.dispatch(call, options),
  async outcomeOf(answer, signal) {
    const { job_id } = answer.meta;
    if (job_id === undefined) return answer;
    while (!signal.aborted) {
      const call = { tool: "job", action: "poll", input: { job_id } };
      const { envelope } = await client.dispatch(call, { signal });
      if (!envelope.ok) return envelope.error.code === "UNKNOWN_TOOL" ? answer : envelope;
      // job.poll returns the envelope of the call once it has ended.
      const { result } = envelope.data as { readonly result?: Envelope };
      if (result) return result;
    }
    return answer;
  },
  async [Symbol.asyncDispose]() {
    await client.close();
  },
});

/** A server's rendering code is not available here, so its data is shown by its shape. */
function describeFrom(rootUri: string): Describe {
  const describe = createDescribe({ get: () => undefined }, [rootUri]);
  return (envelope) => {
    const { data } = envelope;
    if (typeof data !== "object" || data === null || !("text" in data) || typeof data.text !== "string")
      return describe(envelope);
    const { text, ...rest } = data;
    const { body, handles } = describe({ ...envelope, data: rest });
    return { body: text, notes: body.split("\n"), handles };
  };
}
