import { useEffect, useRef } from "preact/hooks";
import { Markdown } from "../../markdown/markdown.tsx";
import { Dot } from "../../parts/badge.tsx";
import { Foreign } from "../../text/foreign.tsx";
import { toClock } from "../../text/format.ts";
import { CallFold } from "./call-fold.tsx";
import type { Entry } from "./transcript.ts";
import type { LiveText } from "./use-session.ts";

/** Farther from the end than this the reader has scrolled up, and the page stays where it is. */
const FOLLOW_PX = 80;

interface Props {
  readonly entries: readonly Entry[];
  readonly live: LiveText;
  readonly isWorking: boolean;
}

/** Messages as Markdown, calls folded. It stays at the end while a session works. */
export function TranscriptView({ entries, live, isWorking }: Props) {
  const end = useRef<HTMLDivElement>(null);
  const isFirst = useRef(true);
  useEffect(() => {
    const scroller = end.current?.closest(".tab-panel");
    if (!scroller) return;
    const distance = scroller.scrollHeight - scroller.scrollTop - scroller.clientHeight;
    if (isFirst.current || distance < FOLLOW_PX + scroller.clientHeight / 2)
      scroller.scrollTop = scroller.scrollHeight;
    isFirst.current = false;
  }, [entries.length, live.text.length]);
  return (
    <div class="transcript">
      {entries.map((entry) => (
        <EntryView key={`${entry.kind}${entry.seq}`} entry={entry} />
      ))}
      {(live.text || live.thinking) && (
        <div class="entry assistant">
          {live.text ? (
            <Markdown text={live.text} />
          ) : (
            <p class="thinking">{<Foreign text={live.thinking} />}</p>
          )}
        </div>
      )}
      {isWorking && (
        <p class="working" role="status">
          <Dot tone="accent" moving /> Working
        </p>
      )}
      <div ref={end} />
    </div>
  );
}

function EntryView({ entry }: { readonly entry: Entry }) {
  switch (entry.kind) {
    case "user":
      return entry.origin === "person" ? (
        <div class="entry user">
          <p class="entry-head">
            You <time class="number">{toClock(Date.parse(entry.at))}</time>
          </p>
          <Markdown text={entry.text} />
        </div>
      ) : (
        <details class="entry context">
          <summary>
            {entry.origin === "summary"
              ? "Summary of the earlier conversation"
              : "Context added by the agent"}
          </summary>
          <pre class="code" tabIndex={0} role="region" aria-label="Context">
            <Foreign text={entry.text} />
          </pre>
        </details>
      );
    case "assistant":
      return (
        <div class="entry assistant">
          {entry.thinking && (
            <details>
              <summary>Thinking</summary>
              <p class="thinking">
                <Foreign text={entry.thinking} />
              </p>
            </details>
          )}
          {entry.text && <Markdown text={entry.text} />}
        </div>
      );
    case "call":
      return <CallFold entry={entry} />;
    case "question":
      return (
        <p class="entry note">
          <Foreign text={`Asked about ${entry.action}: ${entry.answer ?? "waiting for an answer"}`} oneLine />
        </p>
      );
    case "note":
      return (
        <p class={`entry note ${entry.level}`}>
          <Foreign text={entry.text} />
        </p>
      );
  }
}
