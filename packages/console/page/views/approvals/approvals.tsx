import { useEffect } from "preact/hooks";
import { usePage } from "../../data/context.ts";
import { Empty } from "../../parts/empty.tsx";
import { Loading } from "../../parts/loading.tsx";
import { ViewHead } from "../../parts/view-head.tsx";
import { useKeys } from "../../shell/use-keys.ts";
import { counted } from "../../text/format.ts";
import { QuestionCard } from "./question-card.tsx";
import { QuestionList } from "./question-list.tsx";
import "./approvals.css";

/** Everything that waits for a person, one question at a time, with all that is needed to decide. */
export function ApprovalsView() {
  const { store, router } = usePage();
  const questions = store.questions.value;
  const { item } = router.route.value;
  const found = questions.findIndex(({ question_id }) => question_id === item);
  const index = Math.max(0, found);
  // An address of a question that was answered must not show another one in its place.
  const question = item !== undefined && found < 0 ? undefined : questions[index];
  const move = (by: number) => {
    const next = questions[Math.max(0, Math.min(questions.length - 1, index + by))];
    if (next) router.go("approvals", next.question_id);
  };
  // The question in view is the one of the address, so that no other takes its place under a click.
  useEffect(() => {
    if (item === undefined && question) router.choose(question.question_id);
  }, [item, question?.question_id]);
  useKeys({
    j: { help: "Next question", run: () => move(1) },
    k: { help: "Previous question", run: () => move(-1) },
  });
  if (!store.processes.value) return <Loading />;
  return (
    <>
      <ViewHead
        title="Approvals"
        detail={questions.length > 0 ? `${counted(questions.length, "question")} waiting` : undefined}
      />
      {question ? (
        <div class="view-body split">
          <QuestionList questions={questions} current={question.question_id} />
          <QuestionCard key={question.question_id} question={question} />
        </div>
      ) : item !== undefined && questions.length > 0 ? (
        <div class="view-body split">
          <QuestionList questions={questions} current="" />
          <Empty icon="approvals" title="No longer waiting">
            That question was answered, or its call was cancelled. Others still wait.
          </Empty>
        </div>
      ) : (
        <Empty icon="approvals" title="Nothing to approve" command="octant answer">
          {item
            ? "That question was answered, or its call was cancelled."
            : "When an agent needs your permission or an answer, it waits here. The same questions are in your terminal:"}
        </Empty>
      )}
    </>
  );
}
