import { type StampedEvent, textOf } from "@octant/agent";

/** Results of tools are cut: the model that follows a session wants to know what it does, not to read its files. */
const MAX_RESULT_CHARS = 400;

/** A session's event as lines for a model; empty when it says nothing to one. */
export function describeEvent(event: StampedEvent): string {
  const said = describe(event);
  return said === "" ? "" : `${event.seq} ${said}`;
}

function describe(event: StampedEvent): string {
  switch (event.type) {
    case "session_began":
      return `began with ${event.model.id} in ${event.cwd}`;
    case "user":
      return `${event.origin === "person" ? "message" : "note"}: ${textOf(event.content)}`;
    case "message":
      return prefixed("answer: ", textOf(event.message.content));
    case "stopped":
      return prefixed("stopped after: ", event.text);
    case "tool_began":
      return `call ${event.title}`;
    case "tool_ended":
      return `${event.is_error ? "failed" : "result"} ${event.name}: ${cut(textOf(event.content))}`;
    case "permission_asked":
      return `asks ${event.permission_id}: ${event.action}: ${event.reason}`;
    case "permission_answered":
      return `answered ${event.permission_id}: ${event.answer}`;
    case "compaction":
      return `compacted: ${event.tokens_before} to ${event.tokens_after} tokens`;
    case "model_changed":
      return `continues with ${event.model.id}`;
    case "notice":
      return `${event.level}: ${event.text}`;
    case "end":
      return `end: ${event.reason}${event.message === undefined ? "" : `: ${event.message}`}`;
    case "mark":
      return `${event.name}: ${JSON.stringify(event.data)}`;
    default:
      return "";
  }
}

const prefixed = (label: string, text: string): string => (text === "" ? "" : `${label}${text}`);

const cut = (text: string): string =>
  text.length <= MAX_RESULT_CHARS
    ? text
    : `${[...text.slice(0, MAX_RESULT_CHARS)].slice(0, -1).join("")}… (${text.length} characters)`;
