import { type JobEvent, type JobEventView, type Topic, toEventView } from "@octant/core";
import { Publisher } from "zeromq";
import { sealFrames } from "../hoot01/signature.ts";
import { encodeMsgPack } from "../msgpack/codec.ts";
import { bindSocket } from "./endpoint.ts";
import type { WireKeys } from "./keys.ts";

/**
 * A subscriber that is further behind loses messages, notices the gap in the numbers, and catches up with event.poll.
 */
const HIGH_WATER_MARK = 100_000;

/** An event with the numbers by which a subscriber notices a gap. */
export type BroadcastEvent = JobEventView & {
  /** The number of the previously broadcast event; 0 for the first. */
  readonly prev_seq: number;
  /** Counts the events of this job from 0, for subscribers of one job. */
  readonly job_seq: number;
};

/** The topic frame: subscribers select one job or all of them by prefix. */
const topicOf = (job_id: string): string => `job/${job_id}`;

export async function createBroadcaster(
  address: string,
  events: Topic<JobEvent>,
  owner: string,
  { socket: options, keys }: { readonly socket: object; readonly keys: WireKeys | undefined },
) {
  const socket = new Publisher({ ...options, linger: 0, sendHighWaterMark: HIGH_WATER_MARK });
  const bound = await bindSocket(socket, address);
  const jobSeqs = new Map<string, number>();
  let prev_seq = 0;
  let sending = Promise.resolve();
  const stop = events.listen((event) => {
    if (event.value.owner !== owner) return;
    const { job_id, type } = event.value;
    const job_seq = jobSeqs.get(job_id) ?? 0;
    if (type === "end") jobSeqs.delete(job_id);
    else jobSeqs.set(job_id, job_seq + 1);
    const view: BroadcastEvent = { ...toEventView(event), prev_seq, job_seq };
    prev_seq = event.seq;
    const body = encodeMsgPack(view);
    const message = { command: "reply", contentType: "msgpack", service: "broadcast", body } as const;
    const frames = sealFrames(message, keys);
    // A PUB socket never waits, so this only preserves the order.
    sending = sending.then(() => socket.send([topicOf(job_id), ...frames])).catch(() => {});
  });
  return {
    address: bound,
    close(): void {
      stop();
      socket.close();
    },
  };
}
