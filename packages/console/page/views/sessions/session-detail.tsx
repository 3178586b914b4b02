import { usePage } from "../../data/context.ts";
import { toSpans } from "../../live/spans.ts";
import { BackTitle } from "../../parts/back-title.tsx";
import { Badge } from "../../parts/badge.tsx";
import { Tabs } from "../../parts/choices.tsx";
import { Detail } from "../../parts/detail.tsx";
import { lazy } from "../../parts/lazy.tsx";
import { Loading } from "../../parts/loading.tsx";
import { Problem } from "../../parts/problem.tsx";
import { TimelineView } from "../../parts/timeline.tsx";
import { useDraft } from "../../parts/use-draft.ts";
import { useKeys } from "../../shell/use-keys.ts";
import { Foreign } from "../../text/foreign.tsx";
import { toCost, toCount } from "../../text/format.ts";
import { QuestionCard } from "../approvals/question-card.tsx";
import { Checkpoints } from "./checkpoints.tsx";
import { MessageBox } from "./message-box.tsx";
import { PlanView } from "./plan-view.tsx";
import { QueuedMessages } from "./queued-messages.tsx";
import { SessionActions } from "./session-actions.tsx";
import type { TreeRow } from "./session-tree.ts";
import { toTranscript } from "./transcript.ts";
import { TranscriptView } from "./transcript-view.tsx";
import { useSession } from "./use-session.ts";

const UsageChart = lazy(async () => (await import("./usage-chart.tsx")).UsageChart);

interface Props {
  readonly id: string;
  readonly process: string | undefined;
  readonly row: TreeRow["session"] | undefined;
  /** Their questions are answered here too. */
  readonly subAgents: readonly string[];
  onChanged(): void;
}

const PARTS = [
  ["transcript", "Transcript"],
  ["time", "Time and cost"],
  ["undo", "Undo"],
] as const;

/** One session: its transcript as it grows, and what a person can do with it. */
export function SessionDetail({ id, process, row, subAgents, onChanged }: Props) {
  const { store, router } = usePage();
  const part = PARTS.find(([one]) => one === router.route.value.query["part"])?.[0] ?? "transcript";
  const setPart = (next: string) => router.filter({ part: next === "transcript" ? undefined : next });
  const { session, error, reload } = useSession(process, id);
  const draft = useDraft(`message ${id}`);
  const open = (store.processes.value ?? [])
    .flatMap(({ sessions }) => sessions)
    .find(({ session_id }) => session_id === id);
  useKeys({ Escape: { run: () => router.go("sessions", undefined, { q: router.route.value.query["q"] }) } });
  if (error !== undefined) return <Problem error={error} retry={reload} />;
  if (!session || process === undefined) return <Loading />;
  const transcript = toTranscript(session.events);
  const callers = new Set([id, ...subAgents]);
  const question = store.questions.value.find(({ caller }) => callers.has(caller));
  /** Messages that were not read come back into the field. */
  const giveBack = (messages: readonly string[]) => {
    draft.set([...messages, draft.get()].filter(Boolean).join("\n\n"));
    reload();
  };
  const takeBack = () =>
    store.api
      .person(process, "take_back", { session_id: id })
      .then(({ messages }) => giveBack(messages), store.fail);
  const isOpen = open !== undefined || session.isOpenHere;
  const title = open?.title || row?.title || "Untitled session";
  return (
    <Detail class="session" label="Session">
      <header class="session-head">
        <BackTitle list="#/sessions" text={title} />
        <p class="session-facts number">
          <Badge tone={open?.state === "working" ? "accent" : open?.state === "waiting" ? "warn" : "plain"}>
            {open?.state ?? row?.ended ?? "stored"}
          </Badge>
          <Foreign text={open?.model ?? row?.model ?? ""} oneLine />
          <span>{toCost(open?.cost ?? row?.cost ?? null)}</span>
          {transcript.context && (
            <span title="Tokens in the context of the last request">
              {toCount(transcript.context.used)} of {toCount(transcript.context.size)} tokens
            </span>
          )}
        </p>
        <SessionActions
          id={id}
          process={process}
          open={open}
          isOpen={isOpen}
          onUnread={giveBack}
          onChanged={onChanged}
        />
      </header>
      <Tabs label="Parts of the session" value={part} options={PARTS} onChange={setPart}>
        {part === "transcript" && (
          <>
            {transcript.plan && <PlanView plan={transcript.plan} />}
            <TranscriptView
              entries={transcript.entries}
              live={session.live}
              isWorking={open?.state === "working"}
            />
            <QueuedMessages messages={session.queued} onTakeBack={takeBack} />
          </>
        )}
        {part === "time" && (
          <div class="session-time">
            <h3>Time</h3>
            <TimelineView spans={toSpans(session.events)} label="Timeline of the session" />
            <h3>Cost and context</h3>
            <UsageChart points={transcript.usage} />
          </div>
        )}
        {part === "undo" && (
          <Checkpoints
            id={id}
            process={process}
            checkpoints={session.checkpoints}
            messageAt={(seq) => {
              const entry = transcript.entries.find((one) => one.seq === seq);
              return entry?.kind === "user" ? entry.text : "";
            }}
            onDone={reload}
          />
        )}
      </Tabs>
      {part === "transcript" && question && (
        <div class="session-question">
          <QuestionCard key={question.question_id} question={question} />
        </div>
      )}
      {part === "transcript" && (
        <MessageBox
          draft={draft}
          id={id}
          process={process}
          isOpen={isOpen}
          problem={row?.problem ?? null}
          onSent={onChanged}
        />
      )}
    </Detail>
  );
}
