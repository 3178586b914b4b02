import type { ServerResponse } from "node:http";
import type { Caller, Published } from "@octant/core";
import { createEventStream } from "@octant/http";
import type { Processes, SharedEvent } from "./processes.ts";

/** Events are sent together, at most this often: about once per frame of a slow screen. */
const BATCH_MS = 50;
/** The size of one message; the rest follows in the next one. */
const MAX_BATCH_BYTES = 1024 * 1024;

/** Sends events to one page from a known number on; a page that is too slow learns how many it lost. */
export function streamEvents(
  response: ServerResponse,
  { events, use, hasGapAfter }: Pick<Processes, "events" | "use" | "hasGapAfter">,
  caller: Caller,
  after: number | undefined,
  keepAliveMs: number,
): void {
  const leave = use();
  const stream = createEventStream(response, { keepAliveMs });
  let next = after === undefined ? events.nextSeq : after + 1;
  let missed = after !== undefined && hasGapAfter(after) ? 1 : 0;
  let timer: NodeJS.Timeout | undefined;
  const later = () => {
    timer ??= setTimeout(flush, BATCH_MS).unref();
  };
  const flush = () => {
    timer = undefined;
    // Continues when the page has read what was sent.
    if (stream.isFull()) return;
    const page = events.read(next);
    const lost = page.dropped + (page.restarted ? 1 : missed);
    missed = 0;
    const { sent, isAll } = takeSome(page.events);
    next = isAll ? page.next_seq : (sent.at(-1)?.seq ?? next) + 1;
    const own = sent.filter(({ value }) => mayRead(caller, value));
    if (own.length > 0 || lost > 0) stream.raw(toMessage(own, next - 1, lost));
    if (!isAll) later();
  };
  const stop = events.listen(later);
  response.on("drain", later);
  response.once("close", () => {
    clearTimeout(timer);
    stop();
    leave();
  });
  // Tells a new page that it is connected, and from which number on it can continue.
  if (after === undefined) stream.raw(toMessage([], next - 1, 0));
  else flush();
}

function takeSome(all: readonly Published<SharedEvent>[]) {
  let bytes = 0;
  const end = all.findIndex(({ value }) => {
    bytes += value.json.length;
    return bytes > MAX_BATCH_BYTES;
  });
  // One that is larger than a batch is sent alone.
  const sent = end === -1 ? all : all.slice(0, Math.max(1, end));
  return { sent, isAll: sent.length === all.length };
}

const toMessage = (events: readonly Published<SharedEvent>[], last: number, lost: number): string =>
  `id: ${last}\ndata: {"events":[${events.map(toJson).join(",")}],"lost":${lost}}\n\n`;

const toJson = ({ seq, value: { process, topic, at, json } }: Published<SharedEvent>): string =>
  `{"seq":${seq},"at":${at},"process":${JSON.stringify(process)},"topic":${JSON.stringify(topic)},"event":${json}}`;

/** A caller of one project reads its own events only. */
export const mayRead = ({ id, project }: Caller, { owner }: Pick<SharedEvent, "owner">): boolean =>
  project === undefined || owner === id;
