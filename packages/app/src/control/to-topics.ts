import type { AgentEvent } from "@octant/agent";
import {
  type CallEvent,
  createTopics,
  type JobEvent,
  type NamedTopic,
  type Published,
  type QuestionEvent,
  type Questions,
  type Registry,
  type RegistryChange,
  type Topic,
  type Topics,
  toEventView,
} from "@octant/core";
import type { ProcessEvent, Workspace } from "@octant/host";
import type { SessionRoster } from "./session-roster.ts";

interface Sources {
  readonly workspace: Workspace;
  readonly registry: Registry;
  readonly calls: Topic<CallEvent>;
  readonly questions: Questions;
  readonly sessions: SessionRoster;
}

/** The topics of a server: its own, and those that its tools declare. */
export function toTopics({
  workspace: { jobs, processes },
  registry,
  calls,
  questions,
  sessions,
}: Sources): Topics {
  const own = {
    calls: {
      summary: "Each call of a tool: its start and its outcome, without arguments.",
      events: calls,
      ownerOf: ({ caller }) => caller,
    } satisfies NamedTopic<CallEvent>,
    jobs: {
      summary: "States and output of jobs.",
      events: jobs.events,
      ownerOf: ({ owner }) => owner,
      view: toPlainView,
    } satisfies NamedTopic<JobEvent>,
    processes: {
      summary: "Commands that start, write and end.",
      events: processes.events,
      ownerOf: ({ owner }) => owner,
    } satisfies NamedTopic<ProcessEvent>,
    sessions: {
      summary: "Every event of the agent's sessions.",
      events: sessions.events,
      ownerOf: ({ session_id }) => session_id,
    } satisfies NamedTopic<AgentEvent>,
    questions: {
      summary: "Questions to a person, and their answers.",
      events: questions.events,
      ownerOf: () => NOBODY,
    } satisfies NamedTopic<QuestionEvent>,
    tools: {
      summary: "Tools that are added and removed.",
      events: registry.changes,
    } satisfies NamedTopic<RegistryChange>,
  };
  return createTopics(own, registry.list);
}

/** Only a reader who sees all gets these: a caller must not read the questions of another. */
const NOBODY = "";

/** Bytes travel as base64 in JSON. */
function toPlainView(event: Published<JobEvent>): object {
  const view = toEventView(event);
  if (view.event !== "stream_chunk" || view.chunk.kind !== "binary") return view;
  return { ...view, chunk: { kind: "binary", base64: Buffer.from(view.chunk.bytes).toString("base64") } };
}
