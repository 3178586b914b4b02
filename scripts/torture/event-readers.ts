import { setTimeout as sleep } from "node:timers/promises";
import type { startHub } from "../../test/start-hub.ts";

type RunningHub = Awaited<ReturnType<typeof startHub>>;

interface StoredEvent {
  readonly seq: number;
  readonly at: string;
}

interface Reader {
  readonly id: string;
  readonly seen: number[];
  readonly how: "stream" | "poll";
}

const WAIT_MS = 20_000;
const LOOK_MS = 250;
const DATA = /^data: (?<json>\{.*)$/gm;

/**
 * A reader for each session that always waits for its next event, also through restarts of the hub: every second one on
 * the HTTP stream, the others with calls that wait. Every event counts, from its time to the moment at which its reader
 * has it, without the time in which there was no hub.
 */
export function createEventReaders(ids: readonly string[], first: RunningHub) {
  const readers = ids.map((id, n): Reader => ({ id, seen: [], how: n % 2 === 0 ? "stream" : "poll" }));
  const delays: Record<Reader["how"], number[]> = { stream: [], poll: [] };
  const problems: string[] = [];
  const downtimes: { readonly from: number; until: number }[] = [];
  const stop = new AbortController();
  const { signal } = stop;
  let hub: RunningHub | undefined = first;
  let isUp = Promise.withResolvers<void>();
  isUp.resolve();
  let count = 0;

  const withoutDowntime = (from: number, until: number): number =>
    downtimes.reduce(
      (ms, down) => ms - Math.max(0, Math.min(until, down.until) - Math.max(from, down.from)),
      until - from,
    );
  const note = ({ seen, how }: Reader, events: readonly StoredEvent[]) => {
    const now = Date.now();
    for (const { seq, at } of events) {
      seen.push(seq);
      delays[how].push(withoutDowntime(Date.parse(at), now));
      count += 1;
    }
  };
  const poll = async (reader: Reader, from: RunningHub) => {
    const input = { session_id: reader.id, since_index: reader.seen.at(-1) ?? 0, wait: WAIT_MS };
    note(reader, (await from.call<{ events: StoredEvent[] }>("session.events", input, signal)).events);
  };
  const stream = async (reader: Reader, from: RunningHub) => {
    const answer = await fetch(new URL(`/sessions/${reader.id}/events`, from.url), {
      signal,
      headers: { authorization: `Bearer ${from.token}`, "last-event-id": String(reader.seen.at(-1) ?? 0) },
    });
    if (answer.status !== 200) throw new Error(`the stream of ${reader.id} answers ${answer.status}`);
    let rest = "";
    for await (const text of answer.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      const frames = (rest + text).split("\n\n");
      rest = frames.pop() ?? "";
      const events = frames.flatMap((frame) =>
        [...frame.matchAll(DATA)].map((found): StoredEvent => JSON.parse(found.groups?.["json"] ?? "{}")),
      );
      note(reader, events);
    }
  };
  const follow = async (reader: Reader) => {
    while (!signal.aborted) {
      await isUp.promise;
      const from = hub;
      if (!from) continue;
      await (reader.how === "stream" ? stream(reader, from) : poll(reader, from)).catch((cause: unknown) => {
        // The end of a killed hub may be noticed when the next one runs already.
        if (!signal.aborted && hub === from) problems.push(`${reader.id} cannot be read: ${cause}`);
      });
      if (hub === from && problems.length > 0) return;
    }
  };
  const following = Promise.all(readers.map(follow));

  return {
    readers,
    delays,
    problems,
    /** The hub is about to be killed. */
    down(): void {
      hub = undefined;
      isUp = Promise.withResolvers();
      downtimes.push({ from: Date.now(), until: Number.POSITIVE_INFINITY });
    },
    up(next: RunningHub): void {
      const last = downtimes.at(-1);
      if (last) last.until = Date.now();
      hub = next;
      isUp.resolve();
    },
    /** Resolves when this many more events were read, or when `isOver`. */
    async grown(more: number, isOver: () => Promise<boolean>): Promise<void> {
      const wanted = count + more;
      while (count < wanted && problems.length === 0 && !(await isOver())) await sleep(LOOK_MS);
    },
    /** Resolves when everything that is stored was read. */
    async close(): Promise<void> {
      for (const { id, seen } of readers)
        for (;;) {
          const input = { session_id: id, since_index: seen.at(-1) ?? 0 };
          const page = await hub?.call<{ events: readonly StoredEvent[] }>("session.events", input);
          if (!page || page.events.length === 0 || problems.length > 0) break;
          await sleep(LOOK_MS);
        }
      stop.abort();
      isUp.resolve();
      await following;
    },
  };
}

export const p95 = (values: readonly number[]): number =>
  values.toSorted((one, other) => one - other)[Math.floor(values.length * 0.95)] ?? 0;
