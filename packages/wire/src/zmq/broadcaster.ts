import {
  type Caller,
  type JobEvent,
  type JobEventView,
  mayRead,
  type NamedTopic,
  type Topic,
  type Topics,
  toEventView,
  viewOf,
} from "@octant/core";
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

export interface BroadcasterOptions {
  readonly jobs: Topic<JobEvent>;
  /** The topics besides jobs; none when absent. */
  readonly topics?: Topics | undefined;
  /** Only events that it may read are broadcast. */
  readonly caller: Caller;
  readonly socket: object;
  readonly keys: WireKeys | undefined;
}

const JOBS = "jobs";

/** Publishes each job under `job/<job_id>`, and any other topic under `topic/<name>`: subscribers select by prefix. */
export async function createBroadcaster(
  address: string,
  { jobs, topics, caller, socket: options, keys }: BroadcasterOptions,
) {
  const socket = new Publisher({ ...options, linger: 0, sendHighWaterMark: HIGH_WATER_MARK });
  const bound = await bindSocket(socket, address);
  const jobSeqs = new Map<string, number>();
  let prev_seq = 0;
  let sending = Promise.resolve();
  const send = (frame: string, view: object) => {
    const body = encodeMsgPack(view);
    const message = { command: "reply", contentType: "msgpack", service: "broadcast", body } as const;
    const frames = sealFrames(message, keys);
    // A PUB socket never waits, so this only preserves the order.
    sending = sending.then(() => socket.send([frame, ...frames])).catch(() => {});
  };
  const stops = new Map<unknown, () => void>();
  const stopJobs = jobs.listen((event) => {
    const { job_id, type, owner } = event.value;
    if (caller.sees !== "all" && owner !== caller.id) return;
    const job_seq = jobSeqs.get(job_id) ?? 0;
    if (type === "end") jobSeqs.delete(job_id);
    else jobSeqs.set(job_id, job_seq + 1);
    const view: BroadcastEvent = { ...toEventView(event), prev_seq, job_seq };
    prev_seq = event.seq;
    send(`job/${job_id}`, view);
  });
  stops.set(jobs, stopJobs);
  const followTopic = (topic: string, named: NamedTopic) => {
    let before = 0;
    const stop = named.events.listen((event) => {
      if (!mayRead(named, caller, event.value)) return;
      const { seq, at } = event;
      send(`topic/${topic}`, { ...viewOf(named, event), topic, seq, at, prev_seq: before });
      before = seq;
    });
    stops.set(named.events, stop);
  };
  /** Also topics of tools that are added later. */
  const followNew = () => {
    const all = Object.entries(topics?.all() ?? {}).filter(([topic]) => topic !== JOBS);
    for (const [topic, named] of all) if (!stops.has(named.events)) followTopic(topic, named);
    const current = new Set<unknown>([jobs, ...all.map(([, { events }]) => events)]);
    for (const [events, stop] of stops)
      if (!current.has(events)) {
        stop();
        stops.delete(events);
      }
  };
  followNew();
  const stopTools = topics?.get("tools")?.events.listen(followNew);
  return {
    address: bound,
    close(): void {
      stopTools?.();
      for (const stop of stops.values()) stop();
      socket.close();
    },
  };
}
