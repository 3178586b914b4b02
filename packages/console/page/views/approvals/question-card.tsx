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
import { useWasSeen } from "./use-was-seen.ts";

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
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  const process = store.processes.value?.find(({ id }) => id === question.process);
  const mayAnswer = store.me.value?.access === "admin";
  const { title, target } = headlineOf(question);
  const answer = async (given: Answering) => {
    setBusy(true);
    setError(undefined);
    try {
      await store.answer(question, given);
      store.say(given.answer === "deny" || given.answer === "decline" ? "Refused." : "Answered.");
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
      <div class="question-body">
        {error !== undefined && <Problem error={error} />}
        {question.kind === "permission" && <Subject question={question} target={target} />}
        {question.kind === "permission" && <Why question={question} />}
        {question.kind !== "permission" && (
          <FormQuestion question={question} busy={isClosed} onAnswer={answer} mayAnswer={mayAnswer} />
        )}
      </div>
      {question.kind === "permission" && (
        <PermissionAnswers question={question} busy={isClosed} onAnswer={answer} mayAnswer={mayAnswer} />
      )}
      <div ref={end} />
    </article>
  );
}

/** What the call would do: its diff, its command, or its arguments. */
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
          <Foreign text={target} />
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
