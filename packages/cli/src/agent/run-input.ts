import { createInterface } from "node:readline";
import type { Agent } from "@octant/agent";
import { RunInput, type RunRecord } from "@octant/app";
import { orAborted } from "@octant/core";
import type { PermissionAnswer, PermissionPrompter } from "@octant/runtime";
import type { Io } from "../command.ts";

/** Reads `octant run --input-json`: one JSON object per line on stdin. */
export function readRunInput({ stdin }: Pick<Io, "stdin">, print: (record: RunRecord) => void) {
  const asked = new Map<string, PromiseWithResolvers<PermissionAnswer>>();
  let questions = 0;
  const messages: string[] = [];
  let agent: Agent | undefined;
  let hasEnded = false;
  let changed = Promise.withResolvers<void>();
  const notify = () => {
    changed.resolve();
    changed = Promise.withResolvers();
  };
  const invalid = (message: string) => print({ type: "input_error", message });
  const answer = ({ question_id, answer: given, reason }: Extract<RunInput, { type: "answer" }>) => {
    const question = asked.get(question_id);
    if (!question) invalid(`no question ${question_id} is waiting`);
    else if (given === "deny") question.resolve({ answer: given, reason });
    else if (given === "once" || given === "session" || given === "always")
      question.resolve({ answer: given });
    else invalid(`answer: expected one of once, session, always, deny`);
  };
  const take = (input: RunInput) => {
    if (input.type === "interrupt") void agent?.cancel();
    else if (input.type === "answer") answer(input);
    else if (input.type === "message" && agent?.isRunning) agent.queue(input.text);
    else if (input.type === "message") messages.push(input.text);
    notify();
  };
  createInterface({ input: stdin })
    .on("line", (line) => {
      const input = line.trim() === "" ? undefined : parseInput(line);
      if (input?.data) take(input.data);
      else if (input)
        invalid(
          input.error.issues.map(({ path, message }) => `${path.join(".")} ${message}`.trim()).join("; "),
        );
    })
    .on("close", () => {
      hasEnded = true;
      // Nobody can answer any more.
      for (const { resolve } of asked.values()) resolve({ answer: "unattended" });
      notify();
    });
  return {
    /** Asks by a record on stdout, and waits for the answer on stdin. */
    prompter: {
      async requestPermission({ name, summary, input, preview, decision, always, signal }) {
        if (hasEnded) return { answer: "unattended" };
        const question_id = `ask_${++questions}`;
        const waiting = Promise.withResolvers<PermissionAnswer>();
        asked.set(question_id, waiting);
        const choices = ["once", "session", ...(always ? ["always"] : []), "deny"];
        const about = { action: name, summary, input, preview, reason: decision.reason, choices };
        print({ type: "question", question: { question_id, kind: "permission", ...about } });
        try {
          return await orAborted(waiting.promise, signal);
        } finally {
          asked.delete(question_id);
        }
      },
    } satisfies PermissionPrompter,
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
  };
}

function parseInput(line: string) {
  try {
    return RunInput.safeParse(JSON.parse(line));
  } catch {
    return RunInput.safeParse(line);
  }
}
