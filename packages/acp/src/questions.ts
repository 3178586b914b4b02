import { randomUUID } from "node:crypto";
import {
  type CreateElicitationRequest,
  type ElicitationAcceptAction,
  type ElicitationSchema,
  methods,
  type PermissionOption,
  RequestError,
  type ToolCallContent,
  type ToolCallUpdate,
} from "@agentclientprotocol/sdk";
import type { AgentEvent } from "@octant/agent";
import {
  type Ask,
  describeQuestion,
  type FormQuestion,
  fieldsOf,
  fillIn,
  type PermissionQuestion,
  type Question,
  type QuestionAnswer,
  toExact,
} from "@octant/core";
import type { EditorSession } from "./session.ts";

/** Asks the person in the editor. */
export function createEditorAsk(session: EditorSession) {
  const calls = new Map<string, string>();
  const titles = new Map<string, string>();
  const show = async (
    toolCall: ToolCallUpdate,
    options: readonly PermissionOption[],
    signal: AbortSignal,
  ) => {
    signal.throwIfAborted();
    const { outcome } = await session.client.request(
      methods.client.session.requestPermission,
      { sessionId: session.id, toolCall: { status: "pending", ...toolCall }, options: [...options] },
      { cancellationSignal: signal, stopWaitingOnCancel: true },
    );
    signal.throwIfAborted();
    if (outcome.outcome === "selected") return outcome.optionId;
    // The client's answer when it cancels the turn; its notification may come later.
    session.cancel();
    return undefined;
  };
  const chooseFor =
    (question: Question, signal: AbortSignal): Choose =>
    (options, detail) => {
      const toolCallId = calls.get(question.question_id) ?? newCallId();
      const about = question.kind === "permission" ? question.summary : question.message;
      const title = titles.get(toolCallId) ?? [about, detail].filter(Boolean).join("; ");
      const rawInput = question.kind === "permission" ? question.input : {};
      const content = toContent([...describeQuestion(question), ...(detail ? [toExact(detail)] : [])]);
      return show({ toolCallId, title, rawInput, content }, options, signal);
    };
  const ask: Ask = async (question, signal) => {
    // Pending updates must reach the client before a question about them.
    await session.flush();
    try {
      return await answer(question, signal);
    } catch (cause) {
      signal.throwIfAborted();
      if (!(cause instanceof RequestError)) throw cause;
      return { answer: "unattended", reason: `the editor could not ask: ${cause.message}` };
    }
  };
  const answer = async (question: Question, signal: AbortSignal): Promise<QuestionAnswer> => {
    const choose = chooseFor(question, signal);
    if (question.kind === "form")
      return (await showForm(session, question, signal)) ?? chooseValues(question, choose);
    if (question.kind === "confirmation") return chooseYes(question.yes, choose);
    const chosen = await choose(toOptions(question));
    if (chosen === undefined) return { answer: "deny", reason: "the person stopped the turn" };
    return { answer: question.choices.find((one) => one === chosen) ?? "deny" };
  };
  return {
    ask,
    /** Whether the project's own settings and instructions may take effect; undefined without an answer. */
    async askForTrust(lines: readonly string[], signal: AbortSignal): Promise<boolean | undefined> {
      await session.flush();
      const title = "Trust the settings and instructions of this folder?";
      const about = "This folder contains settings and instructions for the agent:";
      const content = toContent([about, "", ...lines]);
      const asked = { toolCallId: newCallId(), title, rawInput: {}, content };
      const chosen = await show(asked, TRUST, signal).catch((cause: unknown) => {
        signal.throwIfAborted();
        // An editor that cannot ask continues without the untrusted settings.
        if (!(cause instanceof RequestError)) throw cause;
      });
      return chosen === undefined ? undefined : chosen === TRUST[0].optionId;
    },
    /** Records which call a question belongs to; the agent publishes that right before it asks. */
    listen(event: AgentEvent): void {
      if (event.type === "tool_began") titles.set(event.call_id, event.title);
      if (event.type === "tool_ended") titles.delete(event.call_id);
      if (event.type === "permission_asked") calls.set(event.permission_id, event.call_id);
      if (event.type === "permission_answered") calls.delete(event.permission_id);
    },
  };
}

/** Shows options, and returns the id of the chosen one; undefined when the person stops the turn instead. */
type Choose = (options: readonly PermissionOption[], detail?: string) => Promise<string | undefined>;

/** A form or an address, where the client can show it; undefined where it cannot. */
async function showForm(
  { client, capabilities: { elicitation }, id }: EditorSession,
  { action, server, message, schema, url }: FormQuestion,
  signal: AbortSignal,
): Promise<QuestionAnswer | undefined> {
  const who = server === undefined ? action : `The MCP server ${server}`;
  const asked = { sessionId: id, message: `${who} asks: ${message}` };
  const send = async (request: CreateElicitationRequest): Promise<QuestionAnswer> => {
    const answer = await client.request(methods.client.elicitation.create, request, {
      cancellationSignal: signal,
      stopWaitingOnCancel: true,
    });
    if (answer.action !== "accept") return { answer: answer.action === "decline" ? "decline" : "cancel" };
    // The SDK has checked the answer against its schema; its union is open, so the compiler cannot tell.
    const { content } = answer as ElicitationAcceptAction;
    return { answer: "accept", ...(content && { content }) };
  };
  if (url !== undefined && elicitation?.url != null)
    return send({ ...asked, mode: "url", url, elicitationId: randomUUID() });
  if (schema !== undefined && elicitation?.form != null)
    // MCP and ACP restrict forms in the same way.
    return send({ ...asked, mode: "form", requestedSchema: schema as ElicitationSchema });
  return undefined;
}

/** For a client without forms: values are chosen or left as proposed; others are typed elsewhere. */
async function chooseValues(question: FormQuestion, choose: Choose): Promise<QuestionAnswer> {
  const { schema, url, question_id } = question;
  if (url !== undefined) return chooseYes("I have opened it", choose);
  const typed = fieldsOf(schema).find(({ choices, mayBeEmpty }) => !choices && !mayBeEmpty);
  if (typed) {
    const how = `'${typed.name}' cannot be typed here; in a terminal: octant answer ${question_id}`;
    await choose([DECLINE], how);
    return { answer: "decline" };
  }
  const content = await fillIn(schema, async (label, { choices }) => {
    if (!choices) return "";
    const options = choices.map(
      (name, at): PermissionOption => ({ optionId: String(at), name, kind: "allow_once" }),
    );
    const chosen = await choose([...options, DECLINE], label);
    return chosen === undefined ? undefined : choices[Number(chosen)];
  });
  if (!content) return { answer: "decline" };
  const sent = await chooseYes("Send", choose, JSON.stringify(content));
  return sent.answer === "accept" ? { ...sent, content } : sent;
}

async function chooseYes(yes: string, choose: Choose, detail?: string): Promise<QuestionAnswer> {
  const accept: PermissionOption = { optionId: "accept", name: yes, kind: "allow_once" };
  const chosen = await choose([accept, DECLINE], detail);
  return { answer: chosen === undefined ? "cancel" : chosen === "accept" ? chosen : "decline" };
}

const DECLINE: PermissionOption = { optionId: "deny", name: "Decline", kind: "reject_once" };

/** The label of an option that allows more than this call names everything that it allows. */
function toOptions({ session, always }: PermissionQuestion): PermissionOption[] {
  const inOneLine = (lines: readonly string[]) => lines.map((line) => line.trim()).join(" ");
  const what = session ? inOneLine(session) : "exactly this call";
  const options: PermissionOption[] = [
    { optionId: "once", name: "Allow once", kind: "allow_once" },
    { optionId: "session", name: `Allow for this session: ${what}`, kind: "allow_always" },
    { optionId: "deny", name: "Reject", kind: "reject_once" },
  ];
  if (!always) return options;
  return options.toSpliced(2, 0, { optionId: "always", name: inOneLine(always.words), kind: "allow_always" });
}

function toContent(lines: readonly string[]): ToolCallContent[] {
  const text = `~~~~text\n${lines.map((line) => line.replaceAll("~~~~", "~ ~ ~ ~")).join("\n")}\n~~~~`;
  return [{ type: "content", content: { type: "text", text } }];
}

const newCallId = () => `question_${randomUUID()}`;

/** Both answers are remembered. Clients that allow single calls unasked do not choose these. */
const TRUST = [
  { optionId: "trust", name: "Let all of this take effect", kind: "allow_always" },
  { optionId: "ignore", name: "Ignore it", kind: "reject_always" },
] as const satisfies readonly PermissionOption[];
