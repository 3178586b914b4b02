import {
  describeQuestion,
  FORM_ANSWERS,
  type FormValues,
  PERMISSION_ANSWERS,
  type Question,
  type QuestionAnswer,
} from "@octant/core";
import { isPlain, type Plain } from "../messages.ts";
import type { InputRequest } from "./exchange.ts";

/** Whether the client's capabilities include showing a form. */
export function canShowForms(capabilities: unknown): boolean {
  const elicitation = isPlain(capabilities) ? capabilities["elicitation"] : undefined;
  if (!isPlain(elicitation)) return false;
  // Older revisions have no other mode and name none.
  return "form" in elicitation || !("url" in elicitation);
}

const CHOICES = { once: "Once", session: "For this session", always: "Always", deny: "No" } as const;

/** The question as a form of the client. */
export const toElicitation = (question: Question): InputRequest => ({
  method: "elicitation/create",
  params: { message: toMessage(question), requestedSchema: toForm(question) },
});

function toMessage(question: Question): string {
  if (question.kind !== "permission") return question.message;
  const rule = question.always?.words.map((line) => `  ${line}`) ?? [];
  return [...describeQuestion(question), ...rule].join("\n");
}

function toForm(question: Question): Plain {
  if (question.kind === "form") return { type: "object", properties: {}, ...question.schema };
  if (question.kind === "confirmation")
    return {
      type: "object",
      properties: { confirm: { type: "boolean", title: question.yes, default: false } },
      required: ["confirm"],
    };
  const offered = Object.entries(CHOICES).filter(([choice]) =>
    question.choices.some((one) => one === choice),
  );
  // One field only: Codex 0.169 does not submit a form while an optional text is empty.
  return {
    type: "object",
    properties: {
      answer: {
        type: "string",
        title: "Allow it?",
        oneOf: offered.map(([choice, title]) => ({ const: choice, title })),
      },
    },
    required: ["answer"],
  };
}

/** Whether the value is the client's answer to a form. */
export const isAnswer = (value: unknown): value is Plain & { readonly action: FormAction } =>
  isPlain(value) && FORM_ANSWERS.some((action) => action === value["action"]);

type FormAction = (typeof FORM_ANSWERS)[number];

/** A closed form is a no, and so is one that was not filled in as asked. */
export function toAnswer(question: Question, value: unknown): QuestionAnswer {
  const action = isAnswer(value) ? value.action : "cancel";
  const given = isPlain(value) && isPlain(value["content"]) ? value["content"] : {};
  if (question.kind === "permission") return action === "accept" ? toPermission(given) : { answer: "deny" };
  if (action !== "accept") return { answer: action };
  // The client has the form's schema; the code that asked checks the values.
  if (question.kind === "form") return { answer: action, content: given as FormValues };
  return { answer: given["confirm"] === true ? "accept" : "decline" };
}

const toPermission = ({ answer: chosen }: Plain): QuestionAnswer => ({
  answer: PERMISSION_ANSWERS.find((one) => one === chosen) ?? "deny",
});
