/** A stretch of time of a session: the model answers, a call runs, or a person is asked. */
export interface Span {
  readonly kind: "model" | "call" | "waiting";
  readonly start: number;
  /** Absent while it lasts. */
  readonly end?: number;
  readonly label: string;
  readonly failed?: boolean;
}

interface SessionEvent {
  readonly type: string;
  readonly at: string;
  readonly [field: string]: unknown;
}

/** The stretches of a session, from its stored events. */
export function toSpans(events: readonly SessionEvent[]): readonly Span[] {
  const spans: Span[] = [];
  const calls = new Map<string, { start: number; label: string }>();
  const questions = new Map<string, { start: number; label: string; call: string }>();
  /** The part of a call until then. */
  const pause = (call_id: string, end: number) => {
    const begun = calls.get(call_id);
    if (begun && end > begun.start) spans.push({ kind: "call", ...begun, end });
  };
  let thinkingSince: number | undefined;
  for (const event of events) {
    const at = Date.parse(event.at);
    switch (event.type) {
      case "user":
        thinkingSince ??= at;
        break;
      case "message":
        if (thinkingSince !== undefined)
          spans.push({ kind: "model", start: thinkingSince, end: at, label: "model" });
        thinkingSince = undefined;
        break;
      case "tool_began":
        calls.set(String(event["call_id"]), {
          start: at,
          label: String(event["title"] ?? event["name"] ?? "call"),
        });
        break;
      case "tool_ended": {
        const begun = calls.get(String(event["call_id"]));
        calls.delete(String(event["call_id"]));
        if (begun)
          spans.push({
            kind: "call",
            ...begun,
            end: at,
            ...(event["is_error"] === true && { failed: true }),
          });
        // The model continues after the last answer.
        if (calls.size === 0) thinkingSince = at;
        break;
      }
      case "permission_asked":
        questions.set(String(event["permission_id"]), {
          start: at,
          label: String(event["action"] ?? "question"),
          call: String(event["call_id"]),
        });
        pause(String(event["call_id"]), at);
        break;
      case "permission_answered": {
        const asked = questions.get(String(event["permission_id"]));
        questions.delete(String(event["permission_id"]));
        if (!asked) break;
        const { call, ...waited } = asked;
        spans.push({ kind: "waiting", ...waited, end: at });
        const paused = calls.get(call);
        if (paused) calls.set(call, { ...paused, start: at });
        break;
      }
      case "stopped":
      case "end":
        thinkingSince = undefined;
        calls.clear();
        questions.clear();
        break;
    }
  }
  const waiting = new Set(questions.values().map(({ call }) => call));
  for (const [id, open] of calls) if (!waiting.has(id)) spans.push({ kind: "call", ...open });
  for (const { call: _call, ...open } of questions.values()) spans.push({ kind: "waiting", ...open });
  if (thinkingSince !== undefined) spans.push({ kind: "model", start: thinkingSince, label: "model" });
  return spans.sort((a, b) => a.start - b.start);
}

/** A bar of the timeline; from and to are shares of its width. */
export interface Bar extends Span {
  readonly from: number;
  readonly to: number;
  readonly lane: number;
}

export interface Timeline {
  readonly bars: readonly Bar[];
  readonly lanes: number;
  /** Where idle time was cut out, as shares of the width, and how long it was. */
  readonly gaps: readonly { readonly at: number; readonly ms: number }[];
}

/** A narrower bar could not be seen or clicked. */
const MIN_SHARE = 0.003;
/** Idle time is drawn as this share of the busy time at most. */
const GAP_SHARE = 0.03;

/** Lays the stretches out from left to right; long idle time is compressed, overlapping ones get lanes. */
export function layOut(spans: readonly Span[], now: number): Timeline {
  const sorted = [...spans].sort((a, b) => a.start - b.start);
  const endOf = (span: Span) => Math.max(span.start, span.end ?? now);
  const busy = mergeTimes(sorted.map((span) => [span.start, endOf(span)]));
  const busyMs = busy.reduce((sum, [start, end]) => sum + end - start, 0);
  const longest = Math.max(busyMs * GAP_SHARE, 1);
  const pieces: { start: number; end: number; at: number }[] = [];
  const cuts: { at: number; ms: number }[] = [];
  let width = 0;
  busy.forEach(([start, end], index) => {
    const idle = index === 0 ? 0 : start - (busy[index - 1]?.[1] ?? start);
    if (idle > longest) cuts.push({ at: width + longest / 2, ms: idle });
    width += Math.min(idle, longest);
    pieces.push({ start, end, at: width });
    width += end - start;
  });
  const total = Math.max(width, 1);
  const place = (time: number) => {
    const piece = pieces.findLast(({ start }) => start <= time) ?? pieces[0];
    return piece ? (piece.at + Math.min(time, piece.end) - piece.start) / total : 0;
  };
  const laneEnds: number[] = [];
  const bars = sorted.map((span): Bar => {
    const from = Math.min(place(span.start), 1 - MIN_SHARE);
    const to = Math.min(1, Math.max(place(endOf(span)), from + MIN_SHARE));
    const free = laneEnds.findIndex((end) => end <= from + 1e-9);
    const lane = free < 0 ? laneEnds.length : free;
    laneEnds[lane] = to;
    return { ...span, from, to, lane };
  });
  return { bars, lanes: laneEnds.length, gaps: cuts.map(({ at, ms }) => ({ at: at / total, ms })) };
}

function mergeTimes(times: readonly (readonly [number, number])[]): readonly (readonly [number, number])[] {
  const merged: [number, number][] = [];
  for (const [start, end] of times) {
    const last = merged.at(-1);
    if (last && start <= last[1]) last[1] = Math.max(last[1], end);
    else merged.push([start, end]);
  }
  return merged;
}
