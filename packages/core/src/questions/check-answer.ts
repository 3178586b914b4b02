import { invalidArgument, ToolError } from "../errors.ts";
import { checkValues } from "./form.ts";
import type { Question, QuestionAnswer } from "./question.ts";

/** The answer with all values of its form; INVALID_ARGUMENT when it was not offered, or names the fields that do not fit. */
export function checkAnswer(question: Question, given: QuestionAnswer): QuestionAnswer {
  const { choices, kind } = question;
  if (!choices.includes(given.answer))
    throw invalidArgument(
      "answer",
      kind === "permission" && given.answer === "always"
        ? "'always' is not offered here: such a rule could not take effect"
        : `answer: expected one of ${choices.join(", ")}`,
    );
  if (kind !== "form" || given.answer !== "accept" || !question.schema) return given;
  const checked = checkValues(question.schema, given.content);
  if ("content" in checked) return { ...given, ...checked };
  const message = checked.issues.map((issue) => `${issue.path}: ${issue.message}`).join("; ");
  throw new ToolError("INVALID_ARGUMENT", message, { issues: checked.issues });
}

/** A front end shows only what is offered, so an invalid answer is a no. */
export function orRefused(question: Question, given: QuestionAnswer): QuestionAnswer {
  try {
    return checkAnswer(question, given);
  } catch (cause) {
    if (!(cause instanceof ToolError)) throw cause;
    return question.kind === "permission" ? { answer: "deny" } : { answer: "cancel", reason: cause.message };
  }
}
