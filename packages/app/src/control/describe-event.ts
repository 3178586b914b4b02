import { toOneLine } from "@octant/core";
import type { ControlEvent } from "./protocol.ts";

const MAX_CHARS = 160;

/** An event as one line for a person; undefined for one that only programs need. */
export function describeEvent(event: ControlEvent): string | undefined {
  const { topic, seq: _seq, at: _at, ...value } = event;
  if (event.dropped !== undefined)
    return `${topic}  ${event.dropped} events were lost: the reader was too slow`;
  const text = (LINES[topic] ?? toJson)(value);
  return text === undefined ? undefined : `${topic}  ${shorten(text)}`;
}

type Value = Readonly<Record<string, unknown>>;

const toJson = (value: Value): string => JSON.stringify(value);

const LINES: Readonly<Record<string, (value: Value) => string | undefined>> = {
  calls: ({ type, tool, action, code, caller }) =>
    `${tool}.${action} ${type === "ended" ? `ended: ${code}` : "started"} (${caller})`,
  jobs: ({ job_id, event, state, chunk }) =>
    `${job_id} ${event === "job_state" ? state : toChunkText(Object(chunk))}`,
  processes: ({ proc_id, type }) => (type === "output" ? undefined : `${proc_id} ${type}`),
  tools: ({ type, tool }) => `${tool} ${type}`,
  questions: (value) => toQuestionText(value),
  sessions: (value) => {
    const text = toSessionText(value);
    return text === undefined ? undefined : `${String(value["session_id"]).slice(0, SHORT_ID_CHARS)} ${text}`;
  },
};

const SHORT_ID_CHARS = 20;

const toChunkText = ({ kind, text, line, message, bytes }: Value): string =>
  `${kind}: ${text ?? line ?? message ?? bytes ?? ""}`;

function toQuestionText({ type, question, question_id, answer, by }: Value): string {
  if (type !== "asked")
    return `${question_id} ${type}${answer === undefined ? "" : `: ${answer}`}${by ? ` by ${by}` : ""}`;
  const { question_id: id, action, message } = Object(question);
  return `${id} asked: ${action ?? message}`;
}

/** Deltas and progress are left out: their sum follows in a stored event. */
function toSessionText(event: Value): string | undefined {
  switch (event["type"]) {
    case "user":
      return `user: ${textIn(event["content"])}`;
    case "message":
      return `assistant: ${textIn(event["content"])}`;
    case "tool_began":
      return `runs ${event["title"]}`;
    case "tool_ended":
      return `${event["name"]} ${event["is_error"] ? `failed: ${event["code"] ?? ""}` : "done"}`;
    case "permission_asked":
      return `asks about ${event["action"]}`;
    case "permission_answered":
      return `answered: ${event["answer"]}`;
    case "notice":
      return `${event["level"]}: ${event["text"]}`;
    case "title":
      return `title: ${event["title"]}`;
    case "end":
      return `ended: ${event["reason"]}${event["message"] ? ` (${event["message"]})` : ""}`;
    default:
      return undefined;
  }
}

const textIn = (content: unknown): string =>
  Array.isArray(content)
    ? content
        .map((part) => String(Object(part).text ?? ""))
        .join(" ")
        .trim()
    : "";

function shorten(text: string): string {
  const line = toOneLine(text.replaceAll(/\s+/g, " "));
  return line.length > MAX_CHARS ? `${line.slice(0, MAX_CHARS - 1).toWellFormed()}…` : line;
}
