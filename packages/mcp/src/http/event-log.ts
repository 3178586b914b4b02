/** A UTF-16 unit of a string may take two bytes. */
const BYTES_PER_UNIT = 2;
const EVENT_ID = /^(?<stream>[0-9a-z]{1,16})-(?<number>\d{1,15})$/;

/** The events sent on the streams of one session, up to a size limit. */
export function createEventLog(maxBytes: number) {
  const events: { readonly stream: string; readonly number: number; readonly line: string }[] = [];
  let bytes = 0;
  let count = 0;
  return {
    /** Stores a line and returns its event id. */
    add(stream: string, line: string): string {
      const number = ++count;
      events.push({ stream, number, line });
      bytes += line.length * BYTES_PER_UNIT;
      while (bytes > maxBytes && events.length > 0)
        bytes -= (events.shift()?.line.length ?? 0) * BYTES_PER_UNIT;
      return `${stream}-${number}`;
    },
    /** The stream of an event id; undefined when it is unknown. */
    streamOf(eventId: string): string | undefined {
      const { stream, number } = EVENT_ID.exec(eventId)?.groups ?? {};
      return Number(number) <= count ? stream : undefined;
    },
    /** The stored events of the same stream since then, oldest first. */
    after(eventId: string) {
      const { stream, number } = EVENT_ID.exec(eventId)?.groups ?? {};
      return events
        .filter((event) => event.stream === stream && event.number > Number(number) && event.line !== "")
        .map((event) => ({ id: `${event.stream}-${event.number}`, line: event.line }));
    },
  };
}
