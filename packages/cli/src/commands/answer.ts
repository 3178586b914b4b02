import { type ControlAnswer, findProcesses, listQuestions, type WaitingQuestion } from "@octant/app";
import { FORM_ANSWERS, type Question as FullQuestion, PERMISSION_ANSWERS, parseValues } from "@octant/core";
import { createTerminalAsk } from "@octant/runtime";
import { defineCommand, EXIT, type Io, print, printJson, UsageError } from "../command.ts";
import { asTyped, tell } from "../person-command.ts";

type Question = WaitingQuestion["question"];
const ANSWERS = [
  ...PERMISSION_ANSWERS,
  ...FORM_ANSWERS,
] as const satisfies readonly ControlAnswer["answer"][];

export const answer = defineCommand({
  name: "answer",
  summary: "Show the questions of your Octant processes, and answer them here",
  arguments: [
    { name: "ID", optional: true },
    { name: ANSWERS.join("|"), kind: ANSWERS, optional: true },
    { name: "FIELD=VALUE", many: true },
  ],
  flags: {
    reason: { summary: "Why you deny it; the model reads it", value: "TEXT" },
    json: { summary: "Print the waiting questions as JSON" },
  },
  notes: `The first answer counts, wherever it is given; the other places close the question. An id may be shortened.
  octant answer                          what waits, in full
  octant answer ID                       asks you
  octant answer ID once                  allows this call
  octant answer ID deny --reason "use npm test"
  octant answer ID accept colour=red     fills in a form`,
  async run({ args: [id, given, ...values], flags }, io) {
    const found = await findProcesses(io.env);
    using connections = new DisposableStack();
    for (const client of found) connections.use(client);
    const waiting = await listQuestions(found);
    if (id === undefined) {
      if (flags.json)
        return printJson(
          waiting.map(({ pid, question }) => ({ pid, ...question })),
          io,
        );
      if (waiting.length === 0) return tell("no question is waiting", io);
      return print(waiting.map((one) => show(one, io)).join("\n\n"), io);
    }
    const { client, question } = choose(waiting, id);
    const chosen = given === undefined ? await askPerson(question, io) : toAnswer(given, values, question);
    if (!chosen) return tell("not answered; the question still waits", io);
    const reason = flags.reason === undefined ? {} : { reason: flags.reason };
    await client.answer(question.question_id, { by: "octant answer", ...chosen, ...reason });
    return EXIT.OK;
  },
});

function choose(waiting: readonly WaitingQuestion[], id: string): WaitingQuestion {
  const found = waiting.filter(({ question }) => question.question_id.includes(id));
  const [only] = found;
  if (only && found.length === 1) return only;
  throw new UsageError(
    found.length === 0 ? `no question '${id}' is waiting` : `${found.length} questions match '${id}'`,
    "octant answer lists them",
  );
}

const show = ({ pid, question }: WaitingQuestion, io: Io): string =>
  [
    `${question.question_id} (process ${pid})`,
    String(question["text"] ?? ""),
    asTyped(`octant answer ${question.question_id} ${choicesOf(question).join("|")}`, io),
  ].join("\n");

const choicesOf = ({ choices }: Question): readonly string[] =>
  Array.isArray(choices) ? choices.map(String) : ANSWERS;

type Given = Omit<ControlAnswer, "by">;

async function askPerson(question: Question, io: Io): Promise<Given | undefined> {
  const given = await createTerminalAsk({ input: io.stdin, output: io.stderr })(
    // As the board of that process lists it.
    question as unknown as FullQuestion,
    new AbortController().signal,
  );
  return given?.answer === "unattended" ? undefined : given;
}

function toAnswer(given: string, values: readonly string[], { schema }: Question): Given {
  const answer = ANSWERS.find((one) => one === given);
  if (!answer) throw new UsageError(`unknown answer '${given}'`, `answers: ${ANSWERS.join(", ")}`);
  return { answer, ...(values.length > 0 && { content: { ...parseValues(Object(schema), values) } }) };
}
