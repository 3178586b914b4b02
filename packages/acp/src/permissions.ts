import { randomUUID } from "node:crypto";
import {
  type CreateElicitationRequest,
  type ElicitationAcceptAction,
  type ElicitationSchema,
  methods,
  type PermissionOption,
  type ToolCallContent,
} from "@agentclientprotocol/sdk";
import type { AgentEvent } from "@octant/agent";
import {
  alwaysInWords,
  describeRequest,
  type FormAnswer,
  type FormRequest,
  type PermissionAnswer,
  type PermissionPrompter,
  type PermissionRequest,
} from "@octant/runtime";
import type { EditorSession } from "./session.ts";

/** Asks the person in the editor. */
export function createEditorPrompter(session: EditorSession) {
  const calls = new WeakMap<object, string>();
  const titles = new Map<string, string>();
  return {
    reads: "choices",
    showForm: (form, signal) => showForm(session, form, signal),
    /** Records which call a question belongs to; the agent publishes that right before it asks. */
    listen(event: AgentEvent): void {
      if (event.type === "tool_began") titles.set(event.call_id, event.title);
      if (event.type === "tool_ended") titles.delete(event.call_id);
      if (event.type === "permission_asked") calls.set(event.input, event.call_id);
    },
    async requestPermission(request) {
      const { signal } = request;
      // Pending updates must reach the client before a question about them.
      await session.flush();
      if (request.isCovered()) return { answer: "once" };
      signal.throwIfAborted();
      const toolCallId = calls.get(request.input) ?? `question_${randomUUID()}`;
      const { outcome } = await session.client.request(
        methods.client.session.requestPermission,
        {
          sessionId: session.id,
          toolCall: {
            toolCallId,
            title: titles.get(toolCallId) ?? [request.summary, request.question].filter(Boolean).join("; "),
            status: "pending",
            rawInput: request.input,
            content: toContent(request),
          },
          options: toOptions(request),
        },
        { cancellationSignal: signal, stopWaitingOnCancel: true },
      );
      signal.throwIfAborted();
      if (outcome.outcome === "selected") return toAnswer(request, outcome.optionId);
      // The client's answer when it cancels the turn; its notification may come later.
      session.cancel();
      return { answer: "deny", reason: "the person stopped the turn" };
    },
  } satisfies PermissionPrompter & { listen: unknown };
}

/** A form of an MCP server, where the client can show one; undefined where it cannot. */
function showForm(
  { client, capabilities: { elicitation }, id }: EditorSession,
  { server, message, schema, url }: FormRequest,
  signal: AbortSignal,
): Promise<FormAnswer> | undefined {
  const asked = { sessionId: id, message: `The MCP server ${server} asks: ${message}` };
  const ask = async (request: CreateElicitationRequest): Promise<FormAnswer> => {
    const answer = await client.request(methods.client.elicitation.create, request, {
      cancellationSignal: signal,
      stopWaitingOnCancel: true,
    });
    if (answer.action !== "accept") return { action: answer.action === "decline" ? "decline" : "cancel" };
    // The SDK has checked the answer against its schema; its union is open, so the compiler cannot tell.
    const { content } = answer as ElicitationAcceptAction;
    return { action: "accept", ...(content && { content }) };
  };
  if (url !== undefined && elicitation?.url != null)
    return ask({ ...asked, mode: "url", url, elicitationId: randomUUID() });
  if (schema !== undefined && elicitation?.form != null)
    // MCP and ACP restrict forms in the same way.
    return ask({ ...asked, mode: "form", requestedSchema: schema as ElicitationSchema });
  return undefined;
}

function toAnswer({ choices }: PermissionRequest, optionId: string): PermissionAnswer {
  const text = choices?.[Number(optionId)];
  if (text !== undefined) return { answer: "once", text };
  return { answer: (["once", "session", "always"] as const).find((one) => one === optionId) ?? "deny" };
}

/** "Always" is offered only with the rule that it would add. */
function toOptions({ always, choices }: PermissionRequest): PermissionOption[] {
  if (choices)
    return [
      ...choices.map((name, at): PermissionOption => ({ optionId: String(at), name, kind: "allow_once" })),
      { optionId: "deny", name: "Decline", kind: "reject_once" },
    ];
  const options: PermissionOption[] = [
    { optionId: "once", name: "Allow once", kind: "allow_once" },
    { optionId: "session", name: "Allow for this session", kind: "allow_always" },
    { optionId: "deny", name: "Reject", kind: "reject_once" },
  ];
  if (!always) return options;
  const words = alwaysInWords(always).map((line) => line.trim());
  return options.toSpliced(2, 0, { optionId: "always", name: words.join(" "), kind: "allow_always" });
}

function toContent(request: PermissionRequest): ToolCallContent[] {
  const lines = [...describeRequest(request), ...(request.question === undefined ? [] : [request.question])];
  const text = `~~~~text\n${lines.map((line) => line.replaceAll("~~~~", "~ ~ ~ ~")).join("\n")}\n~~~~`;
  return [{ type: "content", content: { type: "text", text } }];
}
