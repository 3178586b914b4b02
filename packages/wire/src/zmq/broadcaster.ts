import type { JobEvent, Published, Topic } from "@octant/core";
import { type Context, Publisher } from "zeromq";
import { encodeFrames } from "../hoot01/frames.ts";
import { encodeMsgPack } from "../msgpack/codec.ts";
import type { WireKeys } from "./keys.ts";
import { signFrames } from "./signature.ts";

/** A subscriber that is further behind loses messages, sees the gap in the numbers, and catches up with event.poll. */
const HIGH_WATER_MARK = 100_000;

export interface BroadcastEvent {
  readonly seq: number;
  readonly at: number;
  readonly job_id: string;
  readonly event: "job_state" | "stream_chunk";
  readonly state?: string;
  readonly chunk?: unknown;
}

export const toBroadcast = ({ seq, at, value }: Published<JobEvent>): BroadcastEvent => {
  const { job_id } = value;
  if (value.type === "chunk") return { seq, at, job_id, event: "stream_chunk", chunk: value.chunk };
  const state = value.type === "start" ? "running" : value.type === "end" ? value.state : "queued";
  return { seq, at, job_id, event: "job_state", state };
};

/** The topic frame: subscribers choose by prefix, one job or all of them. */
export const topicOf = (job_id: string): string => `job/${job_id}`;

export interface Broadcaster {
  readonly address: string;
  close(): Promise<void>;
}

export async function createBroadcaster(
  address: string,
  events: Topic<JobEvent>,
  owner: string,
  security: { readonly context: Context; readonly curve: object; readonly keys: WireKeys | undefined },
): Promise<Broadcaster> {
  const { context, curve, keys } = security;
  const socket = new Publisher({ context, linger: 0, sendHighWaterMark: HIGH_WATER_MARK, ...curve });
  await socket.bind(address);
  const bound = socket.lastEndpoint ?? address;
  let sending = Promise.resolve();
  const stop = events.listen((event) => {
    if (event.value.owner !== owner) return;
    const body = encodeMsgPack(toBroadcast(event));
    const frames = encodeFrames({ command: "reply", contentType: "msgpack", service: "broadcast", body });
    const signed = keys?.kind === "hmac" ? signFrames(frames, keys.key, Date.now()) : frames;
    // A PUB socket never waits, so this is only about order.
    sending = sending.then(() => socket.send([topicOf(event.value.job_id), ...signed])).catch(() => {});
  });
  return {
    address: bound,
    async close() {
      stop();
      await socket.unbind(bound);
      socket.close();
    },
  };
}
