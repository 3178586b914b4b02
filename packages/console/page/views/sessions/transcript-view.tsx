import { useEffect, useRef } from "preact/hooks";
import { Markdown } from "../../markdown/markdown.tsx";
import { Dot } from "../../parts/badge.tsx";
import { Empty } from "../../parts/empty.tsx";
import { Icon } from "../../parts/icon.tsx";
import { useFollowing } from "../../parts/use-following.ts";
import { Foreign } from "../../text/foreign.tsx";
import { toClock } from "../../text/format.ts";
import { CallFold } from "./call-fold.tsx";
import type { Entry } from "./transcript.ts";
import type { LiveText } from "./use-session.ts";

interface Props {
  readonly entries: readonly Entry[];
  readonly live: LiveText;
  readonly isWorking: boolean;
}

/** Messages as Markdown, calls folded. It stays at its end until the reader scrolls up. */
export function TranscriptView({ entries, live, isWorking }: Props) {
  const element = useRef<HTMLDivElement>(null);
  const { isAway, toEnd } = useFollowing(element, () => element.current?.closest(".tab-panel"));
  const said = entries.findLast(({ kind }) => kind === "user")?.seq;
  // A person who sends a message wants to see it and the answer.
  useEffect(toEnd, [said]);
  return (
    <div ref={element} class="transcript">
      {entries.length === 0 && !isWorking && (
        <Empty icon="sessions" title="Nothing was said yet">
          Write the first message below.
        </Empty>
      )}
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
      {isAway && (
        <button type="button" class="button to-end" onClick={toEnd}>
          <Icon name="down" />
          Latest
        </button>
      )}
    </div>
  );
}

const ANSWERS: Readonly<Record<string, string>> = {
  once: "Allowed once",
  session: "Allowed for the session",
  always: "Always allowed from now on",
  deny: "Denied",
  accept: "Answered",
  decline: "Declined",
  cancelled: "Not answered",
};

const toAnswer = (action: string, answer: string | undefined): string =>
  answer === undefined ? `Waits for your answer: ${action}` : `${ANSWERS[answer] ?? answer}: ${action}`;

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
          <Foreign text={toAnswer(entry.action, entry.answer)} oneLine />
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
