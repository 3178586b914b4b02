import type { SessionEvent } from "../../../src/api.ts";

/** An entry of a transcript, in the order in which things happened. */
export type Entry =
  | {
      readonly kind: "user";
      readonly seq: number;
      readonly at: string;
      readonly text: string;
      readonly origin: string;
    }
  | {
      readonly kind: "assistant";
      readonly seq: number;
      readonly at: string;
      readonly text: string;
      readonly thinking: string;
    }
  | CallEntry
  | {
      readonly kind: "question";
      readonly seq: number;
      readonly at: string;
      readonly action: string;
      readonly answer?: string;
    }
  | {
      readonly kind: "note";
      readonly seq: number;
      readonly at: string;
      readonly level: string;
      readonly text: string;
    };

export interface CallEntry {
  readonly kind: "call";
  readonly seq: number;
  readonly at: string;
  readonly call_id: string;
  readonly name: string;
  readonly title: string;
  readonly input: unknown;
  /** Absent while it runs. */
  readonly result?: string;
  readonly failed?: boolean;
  readonly code?: string;
  readonly duration_ms?: number;
  readonly diff?: string;
  readonly pictures: readonly { readonly mime: string; readonly data: string }[];
}

export interface PlanStep {
  readonly content: string;
  readonly status: string;
}

/** A session as it is shown. */
export interface Transcript {
  readonly entries: readonly Entry[];
  readonly plan: { readonly title: string; readonly steps: readonly PlanStep[] } | undefined;
  /** After each answer of the model: time, cost so far, and tokens in the context. */
  readonly usage: readonly UsagePoint[];
  readonly context: { readonly used: number; readonly size: number } | undefined;
}

export interface UsagePoint {
  readonly at: number;
  readonly cost: number;
  readonly context: number;
}

export function toTranscript(events: readonly SessionEvent[]): Transcript {
  const entries: Entry[] = [];
  const calls = new Map<string, number>();
  /** The arguments of calls as the model wrote them. */
  const written = new Map<string, unknown>();
  const questions = new Map<string, number>();
  const usage: UsagePoint[] = [];
  let plan: Transcript["plan"];
  let context: Transcript["context"];
  let cost = 0;
  const note = ({ seq, at }: SessionEvent, text: string, level = "info") =>
    entries.push({ kind: "note", seq, at, level, text });
  const begin = ({ seq, at, call_id, name, title }: SessionEvent, input: unknown) => {
    calls.set(String(call_id), entries.length);
    entries.push({
      kind: "call",
      seq,
      at,
      call_id: String(call_id),
      name: String(name),
      title: String(title ?? name),
      input,
      pictures: [],
    });
  };
  for (const event of events) {
    const { seq, at } = event;
    const field = (name: string) => event[name];
    if (typeof field("cost") === "number" && event.type !== "end") cost += Number(field("cost"));
    switch (event.type) {
      case "user":
        entries.push({
          kind: "user",
          seq,
          at,
          text: textIn(field("content")),
          origin: String(field("origin")),
        });
        break;
      case "message": {
        const { content } = Object(field("message"));
        const searched = searchesIn(content);
        if (searched) note(event, searched);
        for (const { type, id, arguments: input } of partsOf(content))
          if (type === "tool_call") written.set(String(id), input);
        const text = textIn(content);
        const thinking = textIn(content, "thinking");
        if (text || thinking) entries.push({ kind: "assistant", seq, at, text, thinking });
        const { used_tokens, size_tokens } = Object(field("context"));
        if (typeof used_tokens === "number") {
          context = { used: used_tokens, size: Number(size_tokens) };
          usage.push({ at: Date.parse(at), cost, context: used_tokens });
        }
        break;
      }
      case "stopped":
        if (field("text"))
          entries.push({ kind: "assistant", seq, at, text: String(field("text")), thinking: "" });
        note(event, "Stopped");
        break;
      case "tool_began":
        begin(event, field("input"));
        break;
      case "tool_ended": {
        const call_id = String(field("call_id"));
        // One that was refused before it began, such as one of an unknown tool.
        if (!calls.has(call_id)) begin(event, written.get(call_id));
        endCall(entries, calls, event);
        break;
      }
      case "permission_asked":
        questions.set(String(field("permission_id")), entries.length);
        entries.push({ kind: "question", seq, at, action: String(field("action")) });
        break;
      case "permission_answered": {
        const index = questions.get(String(field("permission_id")));
        const asked = index === undefined ? undefined : entries[index];
        if (index !== undefined && asked?.kind === "question")
          entries[index] = { ...asked, answer: String(field("answer")) };
        break;
      }
      case "compaction":
        note(event, `Context compacted from ${field("tokens_before")} to ${field("tokens_after")} tokens`);
        break;
      case "model_changed":
        note(event, `Model changed to ${Object(field("model")).id}`);
        break;
      case "notice":
        note(event, String(field("text")), String(field("level")));
        break;
      case "mark":
        if (field("name") === "plan") plan = toPlan(field("data"));
        break;
      case "end":
        if (field("reason") !== "done")
          note(
            event,
            [`Ended (${String(field("reason")).replaceAll("_", " ")})`, field("message")]
              .filter(Boolean)
              .join(": "),
            field("reason") === "failed" ? "error" : "info",
          );
        break;
    }
  }
  return { entries, plan, usage, context };
}

function endCall(entries: Entry[], calls: ReadonlyMap<string, number>, event: SessionEvent): void {
  const index = calls.get(String(event["call_id"]));
  const begun = index === undefined ? undefined : entries[index];
  if (index === undefined || begun?.kind !== "call") return;
  const { diff } = Object(event["facts"]);
  entries[index] = {
    ...begun,
    result: textIn(event["content"]),
    pictures: picturesIn(event["content"]),
    failed: event["is_error"] === true,
    ...(typeof event["code"] === "string" && { code: event["code"] }),
    ...(typeof event["duration_ms"] === "number" && { duration_ms: event["duration_ms"] }),
    ...(typeof diff === "string" && diff !== "" && { diff }),
  };
}

function toPlan(data: unknown): Transcript["plan"] {
  const { title, entries } = Object(data);
  if (!Array.isArray(entries)) return undefined;
  return {
    title: String(title ?? ""),
    steps: entries.map((entry) => ({
      content: String(Object(entry).content),
      status: String(Object(entry).status),
    })),
  };
}

const partsOf = (content: unknown): readonly Record<string, unknown>[] =>
  Array.isArray(content) ? content.map((part) => Object(part)) : [];

export const textIn = (content: unknown, type = "text"): string =>
  partsOf(content)
    .filter((part) => part["type"] === type && typeof part["text"] === "string")
    .map((part) => part["text"])
    .join("");

const picturesIn = (content: unknown): CallEntry["pictures"] =>
  partsOf(content)
    .filter((part) => part["type"] === "image")
    .map((part) => ({ mime: String(part["mime"]), data: String(part["data"]) }));

/** The searches of the model's provider on its own server, with the sources found; empty without any. */
function searchesIn(content: unknown): string {
  const searches = partsOf(content).filter(({ type }) => type === "web_search");
  const texts = (name: string, toText: (item: unknown) => string) =>
    searches.flatMap((part) => (Array.isArray(part[name]) ? part[name].map(toText) : [])).join(", ");
  const queries = texts("queries", String);
  const sources = texts("sources", (source) => {
    const { title, url } = Object(source);
    return [title, url].filter(Boolean).join(" ");
  });
  const errors = searches.flatMap(({ error }) => (typeof error === "string" ? [error] : []));
  return [
    queries && `Searched the web: ${queries}`,
    sources && `Found: ${sources}`,
    ...errors.map((error) => `The search failed: ${error}`),
  ]
    .filter(Boolean)
    .join(". ");
}
