import { usePage } from "../../data/context.ts";
import { projectOf, type WaitingQuestion } from "../../data/roster.ts";
import { Ago } from "../../parts/ago.tsx";
import { Dot } from "../../parts/badge.tsx";
import { toHash } from "../../shell/route.ts";
import { Foreign } from "../../text/foreign.tsx";
import { headlineOf } from "../approvals/headline.ts";

export function QuestionLine({ question }: { readonly question: WaitingQuestion }) {
  const { store } = usePage();
  const process = store.processes.value?.find(({ id }) => id === question.process);
  const { title, target } = headlineOf(question);
  return (
    <li>
      <a class="question-line" href={toHash("approvals", question.question_id)}>
        <Dot tone="warn" />
        <span class="roster-main">
          <span class="roster-title">
            <Foreign text={title} oneLine />
          </span>
          {target && (
            <code class="question-target">
              <Foreign text={target} oneLine />
            </code>
          )}
          <span class="roster-detail">
            <Foreign text={`${process ? projectOf(process) : ""}  ·  ${question.action}`} oneLine />
          </span>
        </span>
        <Ago at={question.asked_at} />
      </a>
    </li>
  );
}
