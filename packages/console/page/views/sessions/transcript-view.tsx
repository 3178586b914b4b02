import { useEffect, useRef } from "preact/hooks";
import type { WaitingQuestion } from "../../data/roster.ts";
import { Markdown } from "../../markdown/markdown.tsx";
import { Dot } from "../../parts/badge.tsx";
import { toHash } from "../../shell/route.ts";
import { Foreign } from "../../text/foreign.tsx";
import { toClock } from "../../text/format.ts";
import { headlineOf } from "../approvals/headline.ts";
import { CallFold } from "./call-fold.tsx";
import type { Entry } from "./transcript.ts";
import type { LiveText } from "./use-session.ts";

/** Farther from the end than this the reader has scrolled up, and the page stays where it is. */
const FOLLOW_PX = 80;

interface Props {
  readonly entries: readonly Entry[];
  readonly live: LiveText;
  readonly isWorking: boolean;
  /** What the session waits for. */
  readonly question: WaitingQuestion | undefined;
}

/** Messages as Markdown, calls folded. It stays at the end until the reader scrolls up. */
export function TranscriptView({ entries, live, isWorking, question }: Props) {
  const end = useRef<HTMLDivElement>(null);
  const follows = useRef(true);
  const mine = entries.findLast(({ kind }) => kind === "user")?.seq ?? 0;
  const shown = useRef(mine);
  const scrollerOf = () => end.current?.closest(".tab-panel") ?? undefined;
  useEffect(() => {
    const scroller = scrollerOf();
    const note = () => {
      if (!scroller) return;
      follows.current = scroller.scrollHeight - scroller.scrollTop - scroller.clientHeight < FOLLOW_PX;
    };
    scroller?.addEventListener("scroll", note, { passive: true });
    return () => scroller?.removeEventListener("scroll", note);
  }, []);
  useEffect(() => {
    const scroller = scrollerOf();
    // A message that was just sent is always shown.
    if (scroller && (follows.current || mine !== shown.current)) scroller.scrollTop = scroller.scrollHeight;
    shown.current = mine;
  }, [entries.length, live.text.length, mine, question?.question_id]);
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
      {question && (
        <a class="entry waiting" href={toHash("approvals", question.question_id)}>
          <Dot tone="warn" />
          <span class="roster-main">
            <span class="roster-title">
              Waiting for you: {<Foreign text={headlineOf(question).title} oneLine />}
            </span>
            <span class="roster-detail">
              <Foreign text={headlineOf(question).target ?? question.action} oneLine />
            </span>
          </span>
          <span class="button">Answer</span>
        </a>
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
