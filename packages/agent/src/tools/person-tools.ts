import { type FormBody, MODES, type Mode, type Questions, type SessionMode, toPlainName } from "@octant/core";
import { z } from "zod";
import { textParts } from "../messages.ts";
import { toFailure } from "../run-calls.ts";
import type { ExecuteOptions, ToolCall, ToolResult, ToolSource } from "../tool-executor.ts";

export interface PersonToolsOptions {
  readonly questions: Pick<Questions, "ask">;
  /** The id of the session whose person answers. */
  readonly caller: string;
  mode(): Mode;
  /** The modes in which a plan can be carried out; none when the session cannot switch. */
  readonly modes: readonly SessionMode[];
  switchTo(mode: SessionMode): void;
}

const EXIT = "ExitPlanMode";
const ASK = "AskUserQuestion";
const OTHER = "something else";
const STAY = "stay in plan";
const UNATTENDED = "nobody can answer now; put it into your answer and end the turn, and the person replies";

/** Their names elsewhere, in lower case without `_` and `-`. */
const NAMES: Readonly<Record<string, string>> = {
  [EXIT]: "exitplanmode planexit presentplan",
  [ASK]: "askuserquestion requestuserinput askuser askfollowupquestion askquestion question",
};

/** Two tools of Claude Code that models call by habit: to end the mode plan, and to ask the person. */
export function createPersonTools(options: PersonToolsOptions): ToolSource {
  const definitions = [EXIT, ASK].map((name) => ({
    name,
    description: "",
    input_schema: { type: "object" },
  }));
  const nameOf = (name: string) =>
    Object.keys(NAMES).find((one) => NAMES[one]?.split(" ").includes(toPlainName(name)));
  return {
    definitions: () => definitions,
    resolve: (call) => ({ ...call, name: nameOf(call.name) ?? call.name }),
    outline: ({ name }) => ({
      title: name === EXIT ? "carry out the plan?" : "a question to you",
      kind: name === EXIT ? "switch_mode" : "other",
      reads_only: true,
      paths: [],
    }),
    execute: (call, given) => (call.name === EXIT ? exitPlan : askPerson)(call, given, options),
  };
}

type Execute = (call: ToolCall, given: ExecuteOptions, options: PersonToolsOptions) => Promise<ToolResult>;

const say = (text: string): ToolResult => ({ content: textParts(text), is_error: false });

const exitPlan: Execute = async ({ input }, given, options) => {
  if (options.mode() !== "plan") return say("The session is not in mode plan; continue with the work.");
  if (options.modes.length === 0)
    return toFailure("PERMISSION_DENIED", "this session only reads; end your turn with the plan");
  const plan = typeof input["plan"] === "string" ? `${input["plan"].trim()}\n\n` : "";
  const title = `Carry it out? ${options.modes.map((one) => `${one}: ${MODES[one].summary}`).join("; ")}`;
  const outcome = await show(EXIT, given, options, {
    message: `${plan}The agent wants to carry out its plan.`,
    schema: {
      type: "object",
      properties: { mode: { type: "string", title, enum: [...options.modes, STAY] } },
      required: ["mode"],
    },
  });
  if (outcome.answer === "unattended") return toFailure("APPROVAL_REQUIRED", UNATTENDED);
  const chosen = options.modes.find((one) => one === outcome.content?.["mode"]);
  if (outcome.answer !== "accept" || !chosen)
    return say("The person stays in mode plan. End your turn; they will say what to change.");
  options.switchTo(chosen);
  return say(
    `The person agreed, and the mode is ${chosen} now: ${MODES[chosen].summary}. Carry out the plan.`,
  );
};

const Option = z.union([z.string(), z.object({ label: z.string(), description: z.string().optional() })]);
const AskInput = z.object({
  questions: z
    .array(
      z.object({
        question: z.string(),
        options: z.array(Option).default([]),
        multiSelect: z.boolean().default(false),
      }),
    )
    .min(1),
});

const askPerson: Execute = async ({ input }, given, options) => {
  const { data, error } = AskInput.safeParse(toQuestions(input));
  if (!data) return toFailure("INVALID_ARGUMENT", z.prettifyError(error));
  const { questions } = data;
  const outcome = await show(ASK, given, options, {
    message: questions.map(describe).join("\n\n"),
    schema: {
      type: "object",
      properties: Object.fromEntries(questions.map((one, at) => [`answer_${at + 1}`, toField(one)])),
      required: questions.map((_, at) => `answer_${at + 1}`),
    },
  });
  if (outcome.answer === "unattended") return toFailure("APPROVAL_REQUIRED", UNATTENDED);
  if (outcome.answer !== "accept")
    return say("The person did not choose. End your turn; they will answer in their own words.");
  const answers = questions.map(({ question }, at) => {
    const value = outcome.content?.[`answer_${at + 1}`];
    return `${question}\n${Array.isArray(value) ? value.join(", ") : value}`;
  });
  const more = answers.some((answer) => answer.endsWith(OTHER))
    ? [`For "${OTHER}", end your turn: they will say what.`]
    : [];
  return say([...answers, ...more].join("\n\n"));
};

/** One question alone, as Cline's models ask. */
function toQuestions(input: ToolCall["input"]): unknown {
  if (input["questions"] !== undefined || typeof input["question"] !== "string") return input;
  const options = input["options"] ?? input["follow_up"];
  return { questions: [{ ...input, options: Array.isArray(options) ? options : [] }] };
}

type Asked = z.output<typeof AskInput>["questions"][number];

const labelOf = (option: Asked["options"][number]) => (typeof option === "string" ? option : option.label);

const describe = ({ question, options }: Asked): string =>
  [
    question,
    ...options.flatMap((one) =>
      typeof one !== "string" && one.description ? [`- ${one.label}: ${one.description}`] : [],
    ),
  ].join("\n");

function toField({ question, options, multiSelect }: Asked) {
  if (options.length === 0) return { type: "string", title: question };
  const choices = [...new Set([...options.map(labelOf), OTHER])];
  return multiSelect
    ? { type: "array", title: question, items: { type: "string", enum: choices } }
    : { type: "string", title: question, enum: choices };
}

const show = (
  action: string,
  { ask, signal }: ExecuteOptions,
  { questions, caller }: PersonToolsOptions,
  body: Pick<FormBody, "message" | "schema">,
) => questions.ask({ kind: "form", ...body }, { action, caller, front: ask, signal });
