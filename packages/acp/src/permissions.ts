import {
  type AgentContext,
  methods,
  type PermissionOption,
  type ToolCallContent,
} from "@agentclientprotocol/sdk";
import type { AgentEvent } from "@octant/agent";
import {
  alwaysInWords,
  describeRequest,
  type PermissionAnswer,
  type PermissionPrompter,
  type PermissionRequest,
} from "@octant/runtime";

export interface EditorPrompter extends PermissionPrompter {
  /** Records which call a question belongs to; the session publishes that right before it asks. */
  listen(event: AgentEvent): void;
}

export interface EditorPrompterOptions {
  readonly client: AgentContext;
  readonly sessionId: () => string;
  /** Pending updates must reach the client before a question about them. */
  readonly flush: () => Promise<void>;
  readonly cancel: () => void;
}

/** Asks the person in the editor. */
export function createEditorPrompter(options: EditorPrompterOptions): EditorPrompter {
  const { client, sessionId, flush, cancel } = options;
  const calls = new WeakMap<object, string>();
  const titles = new Map<string, string>();
  return {
    listen(event) {
      if (event.type === "tool_began") titles.set(event.call_id, event.title);
      if (event.type === "tool_ended") titles.delete(event.call_id);
      if (event.type === "permission_asked") calls.set(event.input, event.call_id);
    },
    async requestPermission(request) {
      const { signal } = request;
      await flush();
      if (request.isCovered()) return { answer: "once" };
      signal.throwIfAborted();
      const toolCallId = calls.get(request.input) ?? "";
      const { outcome } = await client.request(
        methods.client.session.requestPermission,
        {
          sessionId: sessionId(),
          toolCall: {
            toolCallId,
            title: titles.get(toolCallId) ?? request.name,
            status: "pending",
            rawInput: request.input,
            content: toContent(request),
          },
          options: toOptions(request),
        },
        { cancellationSignal: signal, stopWaitingOnCancel: true },
      );
      signal.throwIfAborted();
      if (outcome.outcome === "selected") return ANSWERS[outcome.optionId] ?? { answer: "deny" };
      // The client's answer when it cancels the turn; its notification may come later.
      cancel();
      return { answer: "deny", reason: "the person stopped the turn" };
    },
  };
}

const ANSWERS: Readonly<Record<string, PermissionAnswer>> = {
  once: { answer: "once" },
  session: { answer: "session" },
  always: { answer: "always" },
  deny: { answer: "deny" },
};

/** "Always" is offered only with the rule that it would add. */
const toOptions = ({ always }: PermissionRequest): PermissionOption[] => [
  { optionId: "once", name: "Allow once", kind: "allow_once" },
  { optionId: "session", name: "Allow for this session", kind: "allow_always" },
  ...(always
    ? [
        {
          optionId: "always",
          name: alwaysInWords(always)
            .map((line) => line.trim())
            .join(" "),
          kind: "allow_always",
        } satisfies PermissionOption,
      ]
    : []),
  { optionId: "deny", name: "Reject", kind: "reject_once" },
];

function toContent(request: PermissionRequest): ToolCallContent[] {
  const text = `~~~~text\n${describeRequest(request).join("\n")}\n~~~~`;
  return [{ type: "content", content: { type: "text", text } }];
}
