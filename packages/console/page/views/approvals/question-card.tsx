import { useRef, useState } from "preact/hooks";
import { usePage } from "../../data/context.ts";
import { titleOf, type WaitingQuestion } from "../../data/roster.ts";
import type { Answering } from "../../data/store.ts";
import { isDiff } from "../../diff/rows.ts";
import { Ago } from "../../parts/ago.tsx";
import { Badge } from "../../parts/badge.tsx";
import { Fact } from "../../parts/fact.tsx";
import { Json } from "../../parts/json.tsx";
import { lazy } from "../../parts/lazy.tsx";
import { Problem } from "../../parts/problem.tsx";
import { Foreign } from "../../text/foreign.tsx";
import { FormQuestion } from "./form-question.tsx";
import { headlineOf, RISKS } from "./headline.ts";
import { PermissionAnswers } from "./permission-answers.tsx";
import { useReadToEnd } from "./use-read-to-end.ts";
import { useWasSeen } from "./use-was-seen.ts";
import { withoutGaps } from "./without-gaps.ts";

const DiffText = lazy(async () => (await import("../../diff/diff-view.tsx")).DiffText);

interface Props {
  readonly question: WaitingQuestion;
  onAnswered?(): void;
}

/** One question with the whole diff or command, the rule that asks and the risk. */
export function QuestionCard({ question, onAnswered }: Props) {
  const { store } = usePage();
  const end = useRef<HTMLDivElement>(null);
  const wasSeen = useWasSeen(end);
  const body = useRef<HTMLDivElement>(null);
  const isRead = useReadToEnd(body);
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  const process = store.processes.value?.find(({ id }) => id === question.process);
  const mayAnswer = store.me.value?.access === "admin";
  const { title, target } = headlineOf(question);
  const answer = async (given: Answering) => {
    if (isYes(given.answer) && !isRead) return;
    setBusy(true);
    setError(undefined);
    try {
      await store.answer(question, given);
      store.say(wordsOf(given.answer, question));
      onAnswered?.();
    } catch (cause) {
      setError(cause);
    } finally {
      setBusy(false);
    }
  };
  const isClosed = busy || !wasSeen;
  return (
    <article class="question" aria-labelledby="question-title">
      <header>
        <div class="question-kind">
          <Badge tone="plain">{question.action}</Badge>
          {(question.risk ?? []).map((risk) => (
            <Badge key={risk} tone={risk === "unconfined" ? "bad" : "warn"}>
              {RISKS[risk] ?? risk}
            </Badge>
          ))}
        </div>
        <h2 id="question-title">
          <Foreign text={title} />
        </h2>
        <p class="question-from">
          <Foreign text={process ? titleOf(process) : question.process} oneLine /> · asked{" "}
          <Ago at={question.asked_at} inWords />
          {question.expires_at && <Expiry at={question.expires_at} />}
        </p>
      </header>
      {/* It scrolls, so the keyboard has to reach it. */}
      <div class="question-body" ref={body} tabIndex={0} role="region" aria-label="What is asked">
        {error !== undefined && <Problem error={error} />}
        {question.kind === "permission" && <Subject question={question} target={target} />}
        {question.kind === "permission" && <Why question={question} />}
        {question.kind !== "permission" && (
          <FormQuestion question={question} busy={isClosed} onAnswer={answer} mayAnswer={mayAnswer} />
        )}
      </div>
      {question.kind === "permission" && (
        <PermissionAnswers
          question={question}
          busy={isClosed}
          isSeen={isRead}
          onAnswer={answer}
          mayAnswer={mayAnswer}
        />
      )}
      <div ref={end} />
    </article>
  );
}

function wordsOf(answer: Answering["answer"], { always }: WaitingQuestion): string {
  if (answer === "deny" || answer === "decline") return "Refused.";
  if (answer === "always" && always) return `From now on: ${always.words.join("; ")}.`;
  return "Answered.";
}

const isYes = (answer: Answering["answer"]): boolean =>
  answer === "once" || answer === "session" || answer === "always";

/** The effect of the call: its diff, its command, or its arguments. */
function Subject({
  question,
  target,
}: {
  readonly question: WaitingQuestion;
  readonly target: string | undefined;
}) {
  const { preview, input = {} } = question;
  if (preview && isDiff(preview)) return <DiffText text={preview} />;
  const isCommand = typeof input["command"] === "string" || Array.isArray(input["command"]);
  const rest = Object.fromEntries(Object.entries(input).filter(([key]) => !(isCommand && key === "command")));
  return (
    <>
      {target !== undefined && (
        <pre
          class={isCommand ? "code command-text" : "code"}
          tabIndex={0}
          role="region"
          aria-label={isCommand ? "Command" : "Target"}
        >
          <Foreign text={isCommand ? withoutGaps(target) : target} />
        </pre>
      )}
      {preview && (
        <pre class="code" tabIndex={0} role="region" aria-label="Preview">
          <Foreign text={preview} />
        </pre>
      )}
      {Object.keys(rest).length > 0 && (
        <details open={target === undefined}>
          <summary>Arguments</summary>
          <Json value={rest} label="Arguments" />
        </details>
      )}
    </>
  );
}

function Why({ question: { reason, rule, tier } }: { readonly question: WaitingQuestion }) {
  return (
    <dl class="facts">
      {reason && <Fact name="Why you are asked" text={reason} />}
      {rule && <Fact name="Rule" text={`${rule}${tier ? ` (${tier})` : ""}`} />}
    </dl>
  );
}

function Expiry({ at }: { readonly at: string }) {
  const { store } = usePage();
  const left = Math.max(0, Math.ceil((Date.parse(at) - store.now.value) / 1_000));
  return <> · waits {left >= 120 ? `${Math.ceil(left / 60)} more minutes` : `${left} more seconds`}</>;
}
