import { createTopic } from "@octant/core";

/** A UTF-16 unit of a string may take two bytes. */
const BYTES_PER_UNIT = 2;
const EVENT_ID = /^(?<stream>[0-9a-z]{1,16})-(?<number>\d{1,15})$/;

/** The events sent on the streams of one session, up to a size limit. */
export function createEventLog(maxBytes: number) {
  const events = createTopic<{ readonly stream: string; readonly line: string }>({
    maxEvents: Infinity,
    maxBytes,
    sizeOf: ({ line }) => line.length * BYTES_PER_UNIT,
  });
  return {
    /** Stores a line and returns its event id. */
    add: (stream: string, line: string): string => `${stream}-${events.publish({ stream, line }).seq}`,
    /** The stream of an event id; undefined when it is unknown. */
    streamOf(eventId: string): string | undefined {
      const { stream, number } = EVENT_ID.exec(eventId)?.groups ?? {};
      return Number(number) < events.nextSeq ? stream : undefined;
    },
    /** The stored events of the same stream since then, oldest first. */
    after(eventId: string) {
      const { stream, number } = EVENT_ID.exec(eventId)?.groups ?? {};
      return events
        .read(Number(number) + 1, (event) => event.stream === stream && event.line !== "")
        .events.map(({ seq, value: { line } }) => ({ id: `${stream}-${seq}`, line }));
    },
  };
}
