import type { Agent } from "@octant/agent";
import {
  type Ask,
  attempt,
  checkAnswer,
  orAborted,
  type Question,
  type QuestionAnswer,
  ToolError,
} from "@octant/core";
import { readLines } from "@octant/host";
import { RunInput, type RunRecord } from "./run-records.ts";

/** Reads `octant run --input-json`: one JSON object per line on stdin. */
export function readRunInput({ stdin }: Pick<NodeJS.Process, "stdin">, print: (record: RunRecord) => void) {
  const asked = new Map<string, PromiseWithResolvers<QuestionAnswer | undefined> & { question: Question }>();
  const messages: string[] = [];
  let agent: Agent | undefined;
  let hasEnded = false;
  let changed = Promise.withResolvers<void>();
  const notify = () => {
    changed.resolve();
    changed = Promise.withResolvers();
  };
  const invalid = (message: string) => print({ type: "input_error", message });
  const answer = ({ type: _type, question_id, ...given }: Extract<RunInput, { type: "answer" }>) => {
    const waiting = asked.get(question_id);
    if (!waiting) return invalid(`no question ${question_id} is waiting`);
    try {
      waiting.resolve(checkAnswer(waiting.question, given));
    } catch (cause) {
      if (!(cause instanceof ToolError)) throw cause;
      invalid(cause.message);
    }
  };
  const take = (input: RunInput) => {
    if (input.type === "interrupt") void agent?.cancel();
    else if (input.type === "answer") answer(input);
    else if (input.type === "message" && agent?.isRunning) agent.queue(input.text);
    else if (input.type === "message") messages.push(input.text);
    notify();
  };
  const onLine = (line: string) => {
    if (line.trim() === "") return;
    const value = attempt(() => ({ json: JSON.parse(line) as unknown }));
    if (!value) return invalid("the line is not JSON; an input is one JSON object on one line");
    const { data, error } = RunInput.safeParse(value.json);
    if (data) take(data);
    else invalid(error.issues.map(({ path, message }) => `${path.join(".")} ${message}`.trim()).join("; "));
  };
  readLines(stdin, onLine, () => {
    hasEnded = true;
    // Nobody can answer any more.
    for (const { resolve } of asked.values()) resolve(undefined);
    notify();
  });
  /** Asks by a record on stdout, and waits for the answer on stdin. */
  const ask: Ask = async (question, signal) => {
    if (hasEnded) return undefined;
    const { question_id } = question;
    const waiting = { ...Promise.withResolvers<QuestionAnswer | undefined>(), question };
    asked.set(question_id, waiting);
    print({ type: "question", question: { ...question } });
    try {
      return await orAborted(waiting.promise, signal);
    } finally {
      asked.delete(question_id);
    }
  };
  return {
    ask,
    /** Messages that arrive while the agent works are queued with it. */
    attach(opened: Agent): void {
      agent = opened;
    },
    /** The messages that start a run, until stdin ends. */
    async *messages(): AsyncGenerator<string> {
      for (;;) {
        const next = messages.shift();
        if (next !== undefined) yield next;
        else if (hasEnded) return;
        else await changed.promise;
      }
    },
    /** An open stdin would keep the process alive. */
    [Symbol.dispose]() {
      stdin.destroy();
    },
  };
}
