import { randomBytes } from "node:crypto";
import { fileURLToPath } from "node:url";
import {
  type CallEvent,
  createQuestions,
  createTopic,
  createTopics,
  type Dispatch,
  describeQuestion,
  type NamedTopic,
  type QuestionEvent,
  type QuestionOutcome,
  type Registry,
  type RegistryChange,
  ToolError,
  toCallFacts,
  toTraceId,
} from "@octant/core";
import { backgroundClock, openSocketFolder } from "@octant/host";
import { createCallRecorder } from "../console/call-recorder.ts";
import { createAttend } from "./attend.ts";
import { createClientList } from "./client-list.ts";
import type { ProcessStatus } from "./protocol.ts";
import { serveControl } from "./serve-control.ts";

export interface EdgeControlOptions {
  readonly command: string;
  readonly version: string;
  readonly env: NodeJS.ProcessEnv;
  /** Reaches the server of the edge. */
  readonly dispatch: Dispatch;
  log(line: string): void;
}

/** Shows an edge to the other processes of the person: its calls, its clients, and the questions that it passes on. */
export function createEdgeControl({ command, version, env, dispatch, log }: EdgeControlOptions) {
  const calls = createTopic<CallEvent>({ now: Date.now });
  const questions = createQuestions({ clock: backgroundClock });
  const clients = createClientList();
  const started_at = new Date().toISOString();
  // It records nothing: the server of the edge does.
  const recorder = createCallRecorder((text) => text);
  let running = 0;

  const observed: Dispatch = async (call, given) => {
    const facts = toCallFacts(call, toTraceId(given.traceparent), given.caller);
    const { ask: front } = given;
    const ask: typeof front =
      front &&
      (async ({ question_id, action, caller, job_id, ...body }, signal) => {
        const about = { question_id, action: action ?? "", caller, job_id, front, signal };
        return orNobody(await questions.ask({ ...body, action } as typeof body & { action: string }, about));
      });
    running += 1;
    calls.publish({ ...facts, type: "started" });
    let code: Extract<CallEvent, { type: "ended" }>["code"] = "INTERNAL";
    try {
      const reply = await dispatch(call, { ...given, ...(ask && { ask }) });
      code = reply.envelope.error?.code ?? "OK";
      return reply;
    } finally {
      running -= 1;
      calls.publish({ ...facts, type: "ended", code });
    }
  };

  const toStatus = (roots: readonly string[]): ProcessStatus => {
    const waiting = questions.list().map((one) => ({ ...one, text: describeQuestion(one).join("\n") }));
    return {
      pid: process.pid,
      version,
      command,
      started_at,
      // Folders of the server, which may be on another machine.
      roots: roots.map((root) => (root.startsWith("file:") ? fileURLToPath(root) : root)),
      clients: [...clients.list()],
      tools: [],
      state: waiting.length > 0 ? "waiting" : running > 0 ? "working" : "idle",
      running_calls: running,
      sessions: [],
      questions: waiting,
    };
  };

  return {
    dispatch: observed,
    onClient: clients.add,
    /** Opens the socket, once the server has named its folders and tools. */
    open(roots: readonly string[], registry: Registry): Disposable {
      const own = {
        calls: { summary: "Calls of the edge's client.", events: calls } satisfies NamedTopic<CallEvent>,
        questions: {
          summary: "Questions to a person, and their answers.",
          events: questions.events,
        } satisfies NamedTopic<QuestionEvent>,
        tools: {
          summary: "Tools that are added and removed.",
          events: registry.changes,
        } satisfies NamedTopic<RegistryChange>,
      };
      const topics = createTopics(own, () => []);
      return serveControl({
        folder: openSocketFolder(env),
        name: `${process.pid}-${randomBytes(4).toString("hex")}.sock`,
        topics,
        status: () => toStatus(roots),
        answer: questions.answer,
        attend: createAttend({ topics, calls: recorder, questions, clients }),
        call: async () => {
          const how = "call the server that it is connected to";
          throw new ToolError("UNSUPPORTED", "an edge has no tools of its own", { what: "call", how });
        },
        log,
      });
    },
  };
}

/** Whether anybody else can answer is known where the call runs. */
const orNobody = (outcome: QuestionOutcome): QuestionOutcome | undefined =>
  outcome.answer === "unattended" && outcome.reason === undefined ? undefined : outcome;
