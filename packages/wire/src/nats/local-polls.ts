import type { Msg, Subscription } from "@nats-io/transport-node";
import { narrowCaller, parseRequest, type RequestEnvelope } from "../envelopes.ts";
import { encodeMsgPack, parseMsgPack } from "../msgpack/codec.ts";
import { toText } from "../run-request.ts";
import { toToolError, type WorkerParts } from "./worker-parts.ts";

/** Ended jobs whose events can still be read here. */
const MAX_JOBS = 256;

/** Lets edges read the events of jobs that run, or ran lately, at this worker, under the ids that they know. */
export function createLocalPolls(parts: WorkerParts) {
  const { options, connection, subjects } = parts;
  const known = new Map<string, Subscription>();
  const answer = async (message: Msg, local: string, owner: string): Promise<void> => {
    try {
      const request = parseRequest(parseMsgPack(message.data));
      const { input } = request.request;
      const caller = narrowCaller(options.caller, request);
      if (caller.id !== owner) return;
      const call = { tool: "job", action: "poll", input: { ...Object(input), job_id: local } };
      const { envelope } = await options.dispatch(call, { caller });
      const text = request.text ? { text: toText(options, envelope) } : {};
      message.respond(encodeMsgPack({ local, envelope, ...text }));
    } catch (cause) {
      toToolError(parts, cause);
      message.respond(encodeMsgPack({}));
    }
  };
  return {
    add(job_id: string, local: string, request: RequestEnvelope): void {
      const owner = narrowCaller(options.caller, request).id;
      known.get(job_id)?.unsubscribe();
      known.set(
        job_id,
        connection.nc.subscribe(subjects.poll(job_id), {
          callback: (_, message) => void answer(message, local, owner),
        }),
      );
      const [oldest] = known.keys();
      if (known.size <= MAX_JOBS || oldest === undefined) return;
      known.get(oldest)?.unsubscribe();
      known.delete(oldest);
    },
    close(): void {
      for (const subscription of known.values()) subscription.unsubscribe();
    },
  };
}
