import { usePage } from "../data/context.ts";
import { layOut, type Span } from "../live/spans.ts";
import { toDuration } from "../text/format.ts";
import { toVisible } from "../text/visible.ts";
import "./timeline.css";

const MAX_LANES = 6;
const KINDS = [
  ["model", "Model"],
  ["call", "Calls"],
  ["waiting", "Waiting for a person"],
] as const;

/** How a session spent its time, from left to right; idle time is cut out. */
export function TimelineView({ spans, label }: { readonly spans: readonly Span[]; readonly label: string }) {
  const { store } = usePage();
  const { bars, lanes, gaps } = layOut(spans, store.now.value);
  const height = Math.max(1, Math.min(lanes, MAX_LANES));
  const total = (kind: Span["kind"]) =>
    spans
      .filter((span) => span.kind === kind)
      .reduce((sum, { start, end }) => sum + (end ?? store.now.value) - start, 0);
  return (
    <figure class="timeline" aria-label={toVisible(label)}>
      <div class="timeline-bars" style={{ height: `${height * 14}px` }}>
        {gaps.map(({ at, ms }) => (
          <span
            key={at}
            class="timeline-gap"
            style={{ left: `${at * 100}%` }}
            title={`${toDuration(ms)} idle`}
          />
        ))}
        {bars
          .filter(({ lane }) => lane < MAX_LANES)
          .map((bar, index) => (
            <span
              key={index}
              class={`timeline-bar ${bar.kind}${bar.failed ? " failed" : ""}${bar.end === undefined ? " open" : ""}`}
              style={{
                left: `${bar.from * 100}%`,
                width: `${(bar.to - bar.from) * 100}%`,
                top: `${bar.lane * 14}px`,
              }}
              title={toVisible(`${bar.label}: ${toDuration((bar.end ?? store.now.value) - bar.start)}`)}
            />
          ))}
      </div>
      <figcaption>
        {KINDS.filter(([kind]) => spans.some((span) => span.kind === kind)).map(([kind, name]) => (
          <span key={kind} class="timeline-key">
            <span class={`timeline-swatch ${kind}`} />
            {name} <span class="number">{toDuration(total(kind))}</span>
          </span>
        ))}
      </figcaption>
    </figure>
  );
}
