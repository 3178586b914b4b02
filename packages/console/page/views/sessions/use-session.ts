import { useEffect, useRef, useState } from "preact/hooks";
import type { Checkpoint, LiveSessionEvent, SessionEvent } from "../../../src/api.ts";
import { usePage } from "../../data/context.ts";

/** The part of the current answer that has arrived. */
export interface LiveText {
  readonly text: string;
  readonly thinking: string;
  /** The number of the stored event before its first part. */
  readonly after: number;
}

interface Session {
  readonly events: readonly SessionEvent[];
  readonly checkpoints: readonly Checkpoint[];
  /** The process that accepted the request has the session open, even if the roster does not show it yet. */
  readonly isOpenHere: boolean;
  /** Messages that the agent has not read. */
  readonly queued: readonly string[];
  readonly live: LiveText;
}

interface Draft {
  events: SessionEvent[];
  checkpoints: readonly Checkpoint[];
  isOpenHere: boolean;
  queued: readonly string[];
  live: LiveText;
}

const LIVE = new Set([
  "text_delta",
  "thinking_delta",
  "call_delta",
  "web_search",
  "tool_progress",
  "retry",
  "queued",
  "compaction_began",
]);
const NOTHING: LiveText = { text: "", thinking: "", after: -1 };
/** The stored events that hold the whole text of an answer. */
const WHOLE = new Set(["message", "stopped", "end"]);
const PAGE = 5_000;

/** The events of a session, and those that follow while it is shown. */
export function useSession(process: string | undefined, id: string) {
  const { store } = usePage();
  const [session, setSession] = useState<Session>();
  const [error, setError] = useState<unknown>();
  const [asked, setAsked] = useState(0);
  const generation = store.generation.value;
  const draft = useRef<Draft | undefined>(undefined);
  useEffect(() => {
    if (process === undefined) return;
    const ended = new AbortController();
    let frame = 0;
    const draw = () => {
      cancelAnimationFrame(frame);
      frame = requestAnimationFrame(
        () => draft.current && setSession({ ...draft.current, events: [...draft.current.events] }),
      );
    };
    const read = async () => {
      const before = draft.current?.events ?? [];
      const events = [...before];
      for (;;) {
        const page = await store.api.person(
          process,
          "transcript",
          { session_id: id, after: events.at(-1)?.seq ?? 0, limit: PAGE },
          ended.signal,
        );
        events.push(...page.events);
        if (page.more) continue;
        // Events that arrived while this was read.
        const known = events.at(-1)?.seq ?? 0;
        events.push(...(draft.current?.events ?? []).filter(({ seq }) => seq > known));
        draft.current = {
          events,
          checkpoints: page.checkpoints,
          isOpenHere: page.open_here,
          queued: page.queued,
          live: withoutStored(draft.current?.live ?? NOTHING, events),
        };
        break;
      }
      setError(undefined);
      draw();
    };
    const fail = (cause: unknown) => !ended.signal.aborted && setError(cause);
    let reading = read().catch(fail);
    const stop = store.on("sessions", ({ event }) => {
      const current = draft.current;
      if (event.session_id !== id) return;
      if (!current) {
        // The first read may have begun before this event was stored.
        if (!LIVE.has(event.type)) reading = reading.then(read).catch(fail);
        return;
      }
      if (event.type === "queued" || event.type === "unsent") reading = reading.then(read).catch(fail);
      else if (LIVE.has(event.type)) current.live = addDelta(current.live, event, current.events);
      else if (event.seq === (current.events.at(-1)?.seq ?? 0) + 1) {
        current.events.push(event);
        current.live = withoutStored(current.live, current.events);
        // A new message of the person is a new checkpoint.
        if (event.type === "user") reading = reading.then(read).catch(fail);
      } else if (event.seq > (current.events.at(-1)?.seq ?? 0)) reading = reading.then(read).catch(fail);
      draw();
    });
    return () => {
      ended.abort();
      stop();
      cancelAnimationFrame(frame);
    };
  }, [process, id, asked, generation]);
  return { session, error, reload: () => setAsked((count) => count + 1) };
}

/** A part that belongs to an answer which is stored already is left out. */
function addDelta(live: LiveText, event: LiveSessionEvent, events: readonly SessionEvent[]): LiveText {
  if (event.type === "retry") return NOTHING;
  if (event.seq < lastWhole(events)) return live;
  const { text, thinking, after } = live;
  const start = after < 0 ? event.seq : after;
  const part = String(event["text"]);
  if (event.type === "text_delta") return { text: text + part, thinking, after: start };
  if (event.type === "thinking_delta") return { text, thinking: thinking + part, after: start };
  return live;
}

const withoutStored = (live: LiveText, events: readonly SessionEvent[]): LiveText =>
  live.after < lastWhole(events) ? NOTHING : live;

const lastWhole = (events: readonly SessionEvent[]): number =>
  events.findLast(({ type }) => WHOLE.has(type))?.seq ?? 0;
