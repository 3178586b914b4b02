import type { Clock } from "../clock.ts";
import type { Dispatch } from "../dispatch.ts";
import type { Registry } from "../registry.ts";
import type { Job, JobWork } from "./job.ts";
import type { Jobs } from "./jobs.ts";

export interface WorkerOptions {
  readonly jobs: Jobs;
  readonly dispatch: Dispatch;
  readonly registry: Pick<Registry, "names">;
  readonly clock: Clock;
  readonly pollMs?: number;
}

export type Worker = ReturnType<typeof createWorker>;

const POLL_MS = 1_000;

/**
 * Runs queued jobs of any process as their callers: each passes the whole pipeline of this process. Such a call
 * cannot ask a person.
 */
export function createWorker({ jobs, dispatch, registry, clock, pollMs = POLL_MS }: WorkerOptions) {
  const closing = new AbortController();
  let wake = new AbortController();
  let hadRoom = true;
  // The end of a job matters only when the last claim found no free place.
  const stopListening = jobs.events.listen(({ value: { type } }) => {
    if (type === "queued" || (type === "end" && !hadRoom)) wake.abort();
  });

  const toWork =
    ({ tool, action, input, caller }: Job): JobWork =>
    async (running) =>
      (await dispatch({ tool, action, input }, { caller, signal: running.signal, running })).envelope;
  const loop = async () => {
    while (!closing.signal.aborted) {
      wake = new AbortController();
      hadRoom = jobs.hasRoom;
      const started = await jobs.runNext(registry.names(), toWork);
      if (!started) await clock.sleep(pollMs, AbortSignal.any([wake.signal, closing.signal]));
    }
  };
  const done = loop();
  return {
    close(): Promise<void> {
      closing.abort();
      stopListening();
      return done;
    },
  };
}
