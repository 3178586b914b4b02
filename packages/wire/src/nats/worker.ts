import { setTimeout as delay } from "node:timers/promises";
import { AckPolicy } from "@nats-io/jetstream";
import { type Msg, nanos } from "@nats-io/transport-node";
import { type JobEvent, type Published, ToolError, toEventView } from "@octant/core";
import { encodeMsgPack } from "../msgpack/codec.ts";
import { createAnnouncer } from "../ready.ts";
import { placeBody } from "./bodies.ts";
import { connectNats } from "./connection.ts";
import { DISCOVER, JOBS_STREAM, subjectsOf } from "./subjects.ts";
import { createCallAnswerer, type NatsWorkerOptions, type WorkerParts, WorkerStops } from "./worker-calls.ts";
import { ACK_WAIT_MS, createJobRunner, MAX_JOBS_AT_ONCE } from "./worker-jobs.ts";

/** A worker's announcement to an edge that looks for projects. */
export interface Announcement {
  readonly worker_id: string;
  readonly project: string;
  readonly name: string;
  readonly version: string;
  readonly tools: readonly string[];
}

export interface NatsWorker {
  readonly project: string;
  /** Cancels running jobs and returns them to the queue, so that another worker runs them. */
  close(): Promise<void>;
}

/** Serves one project to the edges of a NATS server, until it is closed. */
export async function createNatsWorker(options: NatsWorkerOptions): Promise<NatsWorker> {
  const { project, caller, jobs, log } = options;
  const connection = await connectNats(options.url, `octant worker ${project}`);
  const subjects = subjectsOf(project);
  const parts: WorkerParts = { options, connection, subjects, running: new Map() };
  const { nc, jsm, js, bodies } = connection;
  const stops: (() => unknown)[] = [];
  const listen = (subject: string, take: (message: Msg) => void, group?: string) => {
    const callback = (failure: Error | null, message: Msg) =>
      failure ? log(failure.message) : take(message);
    const subscription = nc.subscribe(subject, { callback, ...(group && { queue: group }) });
    // Messages that the server has already sent to this worker reach nobody else.
    stops.push(() => subscription.drain());
  };
  const announcement = () => toAnnouncement(options, nc.info?.client_id?.toString() ?? "");
  const announcer = createAnnouncer(options, { heartbeat_ms: 0 });
  stops.push(announcer.close);
  const ready = async (message: Msg) => {
    const { data, headers } = await placeBody(announcer.announce({ declarations: true }), bodies);
    message.respond(data, { headers });
  };
  const broadcast = (event: Published<JobEvent>) => {
    if (event.value.owner === caller.id)
      nc.publish(subjects.event(event.value.job_id), encodeMsgPack(toEventView(event)));
  };
  const answer = createCallAnswerer(parts);
  const answers = new Set<Promise<void>>();
  const track = (answering: Promise<void>) => {
    answers.add(answering);
    void answering.finally(() => answers.delete(answering));
  };
  listen(DISCOVER, (message) => void message.respond(encodeMsgPack(announcement())));
  listen(subjects.ready, (message) => void ready(message), subjects.queue);
  listen(subjects.call, (message) => track(answer(message)), subjects.queue);
  listen(subjects.allCancels, ({ subject }) => cancel(parts, subject));
  stops.push(jobs.events.listen(broadcast));
  await jsm.consumers.add(JOBS_STREAM, {
    durable_name: subjects.queue,
    filter_subject: subjects.allJobs,
    ack_policy: AckPolicy.Explicit,
    ack_wait: nanos(ACK_WAIT_MS),
    max_ack_pending: 1_000,
  });
  const consumer = await js.consumers.get(JOBS_STREAM, subjects.queue);
  const messages = await consumer.consume({ max_messages: MAX_JOBS_AT_ONCE });
  stops.push(() => messages.stop());
  const runner = createJobRunner(parts);
  void runner.consume(messages);
  const announce = () => nc.publish(subjects.started, encodeMsgPack(announcement()));
  stops.push(options.registry.changes.listen(announce));
  announce();
  return {
    project,
    async close() {
      await atMost(DRAIN_MS, ...stops.splice(0).map((stop) => stop()));
      for (const controller of parts.running.values()) controller.abort(new WorkerStops());
      await runner.idle();
      await atMost(DRAIN_MS, ...answers);
      await atMost(DRAIN_MS, nc.flush());
      await connection.close();
    },
  };
}

/** A NATS server that is gone answers nothing any more, and a call may ignore its signal. */
const DRAIN_MS = 2_000;

const atMost = (ms: number, ...work: readonly unknown[]): Promise<unknown> =>
  Promise.race([Promise.allSettled(work), delay(ms, undefined, { ref: false })]);

function toAnnouncement(
  { project, name, version, registry }: NatsWorkerOptions,
  worker_id: string,
): Announcement {
  return { worker_id, project, name, version, tools: registry.list().map((tool) => tool.name) };
}

function cancel({ running }: WorkerParts, subject: string): void {
  const id = subject.slice(subject.lastIndexOf(".") + 1);
  running.get(id)?.abort(new ToolError("CANCELLED", "the caller cancelled the call", {}));
}
