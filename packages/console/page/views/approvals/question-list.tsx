import { useEffect, useRef } from "preact/hooks";
import { usePage } from "../../data/context.ts";
import { projectOf, type WaitingQuestion } from "../../data/roster.ts";
import { Ago } from "../../parts/ago.tsx";
import { toHash } from "../../shell/route.ts";
import { Foreign } from "../../text/foreign.tsx";
import { headlineOf } from "./headline.ts";

interface Props {
  readonly questions: readonly WaitingQuestion[];
  readonly current: string;
}

export function QuestionList({ questions, current }: Props) {
  const { store } = usePage();
  const element = useRef<HTMLElement>(null);
  useEffect(() => {
    const chosen = element.current?.querySelector<HTMLElement>("[aria-current]");
    chosen?.scrollIntoView({ block: "nearest", inline: "nearest" });
    // The focus follows the chosen question; focus elsewhere on the page stays.
    if (element.current?.contains(document.activeElement)) chosen?.focus();
  }, [current]);
  return (
    <nav ref={element} class="question-list" aria-label="Questions">
      {questions.map((question) => {
        const process = store.processes.value?.find(({ id }) => id === question.process);
        const { title, target } = headlineOf(question);
        return (
          <a
            key={question.question_id}
            href={toHash("approvals", question.question_id)}
            aria-current={question.question_id === current ? "true" : undefined}
          >
            <span class="roster-title">
              <Foreign text={title} oneLine />
              <Ago at={question.asked_at} />
            </span>
            <span class="roster-detail">
              <Foreign text={target ?? question.action} oneLine />
            </span>
            <span class="roster-detail">
              <Foreign text={process ? projectOf(process) : ""} oneLine />
            </span>
          </a>
        );
      })}
    </nav>
  );
}
