import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import { setTimeout as delay } from "node:timers/promises";
import { AckPolicy } from "@nats-io/jetstream";
import { type Msg, nanos } from "@nats-io/transport-node";
import { type JobEvent, type Published, ToolError, toEventView } from "@octant/core";
import { encodeMsgPack } from "../msgpack/codec.ts";
import { createAnnouncer } from "../ready.ts";
import { placeBody } from "./bodies.ts";
import { connectNats } from "./connection.ts";
import { createLease, type Holder } from "./lease.ts";
import { DISCOVER, JOBS_STREAM, subjectsOf } from "./subjects.ts";
import { createCallAnswerer, type NatsWorkerOptions, type WorkerParts, WorkerStops } from "./worker-calls.ts";
import { ACK_WAIT_MS, createJobRunner, MAX_JOBS_AT_ONCE } from "./worker-jobs.ts";

/** A worker's announcement to an edge that looks for projects. */
export interface Announcement extends Holder {
  readonly project: string;
  readonly state: WorkerState;
  readonly name: string;
  readonly version: string;
  readonly tools: readonly string[];
}

/** One worker of a project is active; the others stand by. */
export type WorkerState = "active" | "standby";

export interface NatsWorker {
  readonly project: string;
  readonly state: WorkerState;
  /** Cancels running jobs and returns them to the queue, so that another worker runs them. */
  close(): Promise<void>;
}

/** Serves one project to the edges of a NATS server, or stands by while another worker does, until it is closed. */
export async function createNatsWorker(options: NatsWorkerOptions): Promise<NatsWorker> {
  const { project, registry, name, version, log } = options;
  const connection = await connectNats(options, `octant worker ${project}`);
  const { nc } = connection;
  const self: Holder = { worker_id: randomUUID(), host: hostname(), pid: process.pid };
  const subjects = subjectsOf(project);
  let serving = Promise.resolve<() => Promise<void>>(async () => {});
  const stopServing = () => {
    serving = serving.then(async (stop) => {
      await stop();
      return async () => {};
    });
    return serving;
  };
  const fail = (cause: unknown) => {
    log(`cannot serve ${project}: ${cause}`);
    return async () => {};
  };
  const lease = await createLease({
    connection,
    subject: subjects.lease,
    self,
    onTaken(previous) {
      if (previous?.worker_id === self.worker_id) log(`has ${project} again`);
      else if (previous) log(tookOver(project, previous));
      // `isHeld` is asked only later, when the lease exists.
      const parts = { options, connection, subjects, running: new Map(), isHeld: () => lease.isHeld() };
      serving = serving.then(() => serveProject(parts, self).catch(fail));
    },
    onLost() {
      log(`lost ${project}: its lease was not renewed in time; this worker stands by`);
      void stopServing();
    },
  });
  await serving;
  const state = (): WorkerState => (lease.isHeld() ? "active" : "standby");
  const other = lease.holder();
  if (state() === "standby" && other) log(standsBy(project, other));
  const discovered = nc.subscribe(DISCOVER, {
    callback(_, message) {
      const tools = registry.names();
      const announcement: Announcement = { ...self, project, state: state(), name, version, tools };
      message.respond(encodeMsgPack(announcement));
    },
  });
  return {
    project,
    get state() {
      return state();
    },
    async close() {
      discovered.unsubscribe();
      await stopServing();
      await atMost(DRAIN_MS, lease.close());
      await atMost(DRAIN_MS, nc.flush());
      await connection.close();
    },
  };
}

/** Answers the edges of a project until the returned function is called. */
async function serveProject(parts: WorkerParts, { worker_id }: Holder): Promise<() => Promise<void>> {
  const { options, connection, subjects } = parts;
  const { caller, jobs, log } = options;
  const { nc, jsm, js, bodies } = connection;
  const stops: (() => unknown)[] = [];
  const listen = (subject: string, take: (message: Msg) => void) => {
    const callback = (failure: Error | null, message: Msg) =>
      failure ? log(failure.message) : take(message);
    const subscription = nc.subscribe(subject, { callback });
    // Messages that the server has already sent to this worker reach nobody else.
    stops.push(() => subscription.drain());
  };
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
  listen(subjects.ready(worker_id), (message) => void ready(message));
  listen(subjects.call(worker_id), (message) => track(answer(message)));
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
  const announce = () => nc.publish(subjects.started, "");
  stops.push(options.registry.changes.listen(announce));
  announce();
  return async () => {
    await atMost(DRAIN_MS, ...stops.splice(0).map((stop) => stop()));
    for (const controller of parts.running.values()) controller.abort(new WorkerStops());
    await runner.idle();
    await atMost(DRAIN_MS, ...answers);
    await atMost(DRAIN_MS, nc.flush());
  };
}

/** A NATS server that is gone answers nothing any more, and a call may ignore its signal. */
const DRAIN_MS = 2_000;

const atMost = (ms: number, ...work: readonly unknown[]): Promise<unknown> =>
  Promise.race([Promise.allSettled(work), delay(ms, undefined, { ref: false })]);

function cancel({ running }: WorkerParts, subject: string): void {
  const id = subject.slice(subject.lastIndexOf(".") + 1);
  running.get(id)?.abort(new ToolError("CANCELLED", "the caller cancelled the call", {}));
}

const standsBy = (project: string, { host, pid }: Holder) =>
  `stands by for ${project}: the worker on ${host} (process ${pid}) has it; this one takes over when that one ends`;

const tookOver = (project: string, { host, pid }: Holder) =>
  `took over ${project} from the worker on ${host} (process ${pid}): calls now see this machine's files; processes, undo and stored data of the other one stay there`;
