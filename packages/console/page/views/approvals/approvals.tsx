import { useLayoutEffect } from "preact/hooks";
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
  const question = questions[found];
  const first = questions[0]?.question_id;
  // The first question is chosen, so that no other takes its place when it is answered elsewhere.
  useLayoutEffect(() => {
    if (item === undefined && first !== undefined) router.replace("approvals", first);
  }, [item, first]);
  const showNext = () => {
    const rest = store.questions.peek();
    // The person may have left meanwhile.
    if (router.route.peek().item === item)
      router.replace("approvals", rest[Math.min(index, rest.length - 1)]?.question_id);
  };
  const move = (by: number) => {
    const next = questions[Math.max(0, Math.min(questions.length - 1, index + by))];
    if (next) router.go("approvals", next.question_id);
  };
  useKeys({
    j: { help: "Next question", run: () => move(1) },
    k: { help: "Previous question", run: () => move(-1) },
    PageDown: { help: "Scroll the question", run: () => scrollQuestion(1) },
    PageUp: { run: () => scrollQuestion(-1) },
    " ": { run: () => scrollQuestion(1) },
  });
  if (!store.processes.value || (item === undefined && first !== undefined)) return <Loading />;
  return (
    <>
      <ViewHead
        title="Approvals"
        detail={questions.length > 0 ? `${counted(questions.length, "question")} waiting` : undefined}
      />
      {question ? (
        <div class="view-body split">
          <QuestionList questions={questions} current={question.question_id} />
          <QuestionCard key={question.question_id} question={question} onAnswered={showNext} />
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

/** By most of a page, so that the last lines stay in view. */
function scrollQuestion(pages: number): void {
  const body = document.querySelector(".question-body");
  body?.scrollBy(0, pages * 0.9 * body.clientHeight);
}
