import { createTopic, type Topic } from "@octant/core";
import type { EndRecord, Started, StartRecord } from "./protocol.ts";

/** A process of this server that has not ended, as far as the server knows. */
export interface LiveProcess {
  readonly start: StartRecord;
  readonly ended: Promise<EndRecord>;
  started(facts: Started): void;
  end(record: EndRecord): void;
  /** Called when there may be new output, and at the end. */
  readonly output: Topic<void>;
}

export function createLiveProcess(order: Omit<StartRecord, keyof Started>): LiveProcess {
  const output = createTopic<void>({ maxEvents: 0 });
  const ended = Promise.withResolvers<EndRecord>();
  let start: StartRecord = { ...order, pid: NOT_STARTED, started_at: Date.now() };
  return {
    get start() {
      return start;
    },
    ended: ended.promise,
    started(facts) {
      start = { ...start, ...facts };
    },
    end(record) {
      ended.resolve(record);
      output.publish();
    },
    output,
  };
}

/** No process has this number. */
export const NOT_STARTED = 0;
