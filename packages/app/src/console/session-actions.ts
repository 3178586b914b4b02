import { type Agent, textOf } from "@octant/agent";
import { action, SESSION_MODES, ToolError } from "@octant/core";
import { z } from "zod";
import { EXPORT_FORMATS, exportSession, openSessions } from "../agent/sessions.ts";
import { CHANGE, READ } from "./kinds.ts";
import type { ConsoleParts } from "./parts.ts";
import { SessionId } from "./shapes.ts";

const MAX_MESSAGE_CHARS = 1_000_000;
const EXAMPLE = "session_01";

const Message = z.string().min(1).max(MAX_MESSAGE_CHARS);
const Root = z
  .string()
  .optional()
  .describe("The folder of the session, as in `roots` of a process; this process's own when absent");
const Opened = z.object({ session_id: z.string() });

const OPEN_ERRORS = ["NOT_FOUND", "LOCKED", "INVALID_ARGUMENT", "UNSUPPORTED", "UPSTREAM_ERROR"] as const;

export const start = ({ desk }: ConsoleParts) =>
  action({
    summary: "Start a session of the agent in this process.",
    ...CHANGE,
    input: z.strictObject({
      message: Message,
      root: Root,
      model: z.string().optional(),
      mode: z.enum(SESSION_MODES).optional(),
    }),
    output: Opened,
    errors: OPEN_ERRORS,
    examples: [{ title: "A task", input: { message: "Make npm test pass." }, fails: "INVALID_ARGUMENT" }],
    async run({ message: text, ...options }) {
      const agent = await desk.open(options);
      deliver(agent, text);
      return { session_id: agent.session.id };
    },
  });

export const message = ({ octant }: ConsoleParts) =>
  action({
    summary: "Send a message to a session that is open here; a working one reads it at its next step.",
    ...CHANGE,
    input: z.strictObject({ session_id: z.string(), message: Message }),
    output: z.object({ queued: z.boolean() }),
    errors: ["NOT_FOUND"],
    examples: [
      {
        title: "Go on",
        input: { session_id: EXAMPLE, message: "Also update the docs." },
        fails: "NOT_FOUND",
      },
    ],
    run: ({ session_id, message: text }) => ({ queued: deliver(findOpen(octant, session_id), text) }),
  });

export const takeBack = ({ octant }: ConsoleParts) =>
  action({
    summary: "Take back the messages that a working session has not read yet.",
    ...CHANGE,
    input: z.strictObject({ session_id: z.string() }),
    output: z.object({ messages: z.array(z.string()).describe("Oldest first") }),
    errors: ["NOT_FOUND"],
    examples: [{ title: "Take them back", input: { session_id: EXAMPLE }, fails: "NOT_FOUND" }],
    run: ({ session_id }) => ({ messages: findOpen(octant, session_id).takeBack().map(textOf) }),
  });

export const stop = ({ octant }: ConsoleParts) =>
  action({
    summary:
      "Stop the run of a session that is open here: its model, tools and processes. Messages that it has not read come back in an event `unsent`.",
    ...CHANGE,
    input: z.strictObject({ session_id: z.string() }),
    output: z.object({ stopped: z.boolean().describe("false: it was idle") }),
    errors: ["NOT_FOUND"],
    examples: [{ title: "Stop it", input: { session_id: EXAMPLE }, fails: "NOT_FOUND" }],
    async run({ session_id }) {
      const agent = findOpen(octant, session_id);
      const stopped = agent.isRunning;
      await agent.cancel();
      return { stopped };
    },
  });

export const resume = ({ desk }: ConsoleParts) =>
  action({
    summary: "Open a stored session in this process, and send it a message if there is one.",
    ...CHANGE,
    input: z.strictObject({ session_id: SessionId, root: Root, message: Message.optional() }),
    output: Opened,
    errors: OPEN_ERRORS,
    examples: [{ title: "Resume it", input: { session_id: EXAMPLE }, fails: "NOT_FOUND" }],
    async run({ session_id, message: text, root }) {
      const agent = await desk.open({ root, from: { how: "resume", id: session_id } });
      if (text !== undefined) deliver(agent, text);
      return { session_id: agent.session.id };
    },
  });

export const fork = ({ desk }: ConsoleParts) =>
  action({
    summary: "Continue in a copy of a session, up to an event or as a whole; the original stays.",
    ...CHANGE,
    input: z.strictObject({
      session_id: SessionId,
      root: Root,
      before: z.int().min(1).optional().describe("The number of the first event that the copy leaves out"),
      message: Message.optional(),
    }),
    output: Opened,
    errors: OPEN_ERRORS,
    examples: [{ title: "A copy", input: { session_id: EXAMPLE }, fails: "NOT_FOUND" }],
    async run({ session_id, root, before, message: text }) {
      const seq = before === undefined ? {} : { seq: before - 1 };
      const agent = await desk.open({ root, from: { how: "fork", id: session_id, ...seq } });
      if (text !== undefined) deliver(agent, text);
      return { session_id: agent.session.id };
    },
  });

export const remove = ({ octant }: ConsoleParts) =>
  action({
    summary: "Remove a stored session.",
    ...CHANGE,
    destructive: true,
    input: z.strictObject({ session_id: z.string() }),
    output: z.object({}),
    errors: ["NOT_FOUND", "LOCKED"],
    examples: [{ title: "Remove it", input: { session_id: EXAMPLE }, fails: "NOT_FOUND" }],
    async run({ session_id }) {
      await openSessions(octant.workspace).remove(session_id);
      return {};
    },
  });

export const exportFile = ({ octant }: ConsoleParts) =>
  action({
    summary: "Write a session as one file: HTML that opens offline, Markdown or JSON.",
    ...READ,
    input: z.strictObject({ session_id: SessionId, format: z.enum(EXPORT_FORMATS).default("html") }),
    output: z.object({ name: z.string(), mime: z.string(), text: z.string() }),
    errors: ["NOT_FOUND"],
    examples: [{ title: "As HTML", input: { session_id: EXAMPLE }, fails: "NOT_FOUND" }],
    async run({ session_id: given, format }) {
      const store = openSessions(octant.workspace);
      const session_id = await store.resolve(given);
      const { ending, mime } = FILES[format];
      const text = await exportSession(store.events(session_id), format);
      return { name: `${session_id}.${ending}`, mime, text };
    },
  });

const FILES = {
  html: { ending: "html", mime: "text/html" },
  markdown: { ending: "md", mime: "text/markdown" },
  json: { ending: "json", mime: "application/json" },
} as const;

function findOpen({ sessions }: ConsoleParts["octant"], session_id: string): Agent {
  const agent = sessions.get(session_id);
  if (agent) return agent;
  throw new ToolError("NOT_FOUND", `session ${session_id} is not open in this process; resume it`, {
    id: session_id,
  });
}

/** Returns whether the message waits for the next step of a running agent. */
function deliver(agent: Agent, text: string): boolean {
  if (agent.isRunning) {
    agent.queue(text);
    return true;
  }
  // The events of the session report how the run ends.
  agent.send(text).catch(() => {});
  return false;
}
