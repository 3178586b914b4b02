import { useEffect, useState } from "preact/hooks";
import { usePage } from "../../data/context.ts";
import { type Span, toSpans } from "../../live/spans.ts";
import { TimelineView } from "../../parts/timeline.tsx";
import { toHash } from "../../shell/route.ts";
import { Foreign } from "../../text/foreign.tsx";

interface Lane {
  readonly session_id: string;
  readonly process: string;
  readonly spans: readonly Span[];
}

const MAX_EVENTS = 2_000;
const LIVE_ONLY = new Set(["text_delta", "thinking_delta", "call_delta", "web_search", "tool_progress"]);

/** How each working session spends its time: calls, the model, and waiting for a person. */
export function LiveTimeline({ process }: { readonly process: string }) {
  const { store } = usePage();
  const [lanes, setLanes] = useState<readonly Lane[]>([]);
  useEffect(() => {
    const logs = new Map<string, { process: string; events: { type: string; at: string }[] }>();
    const draw = () =>
      setLanes(
        [...logs].map(([session_id, log]) => ({
          session_id,
          process: log.process,
          spans: toSpans(log.events),
        })),
      );
    let frame = 0;
    return store.on("sessions", ({ process: from, event }) => {
      if (LIVE_ONLY.has(event.type)) return;
      const log = logs.get(event.session_id) ?? { process: from, events: [] };
      logs.set(event.session_id, log);
      log.events.push(event);
      if (log.events.length > MAX_EVENTS) log.events.splice(0, MAX_EVENTS / 2);
      cancelAnimationFrame(frame);
      frame = requestAnimationFrame(draw);
    });
  }, []);
  const shown = lanes.filter((lane) => lane.spans.length > 0 && (!process || lane.process === process));
  if (shown.length === 0) return null;
  // A new session has its title a moment after its first events.
  const titleOf = (id: string) =>
    (store.processes.value ?? [])
      .flatMap(({ sessions }) => sessions)
      .find(({ session_id }) => session_id === id)?.title || "Untitled session";
  return (
    <section class="live-timelines" aria-label="Timelines">
      {shown.map(({ session_id, process: from, spans }) => (
        <div key={session_id} class="live-timeline">
          <a href={toHash("sessions", session_id, { process: from })}>
            <Foreign text={titleOf(session_id)} oneLine />
          </a>
          <TimelineView spans={spans} label={`Timeline of ${titleOf(session_id)}`} />
        </div>
      ))}
    </section>
  );
}
