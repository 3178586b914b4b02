import {
  Agent,
  type ApiClient,
  ApiError,
  type EventStore,
  type Model,
  NO_USAGE,
  Session,
  type StreamEvent,
  type ToolExecutor,
  textParts,
} from "@octant/agent";
import { createQuestions } from "@octant/core";
import { alwaysInWords, PermissionRule, ruleInWords } from "@octant/runtime";
import { TerminalApp } from "../app.ts";
import type { AppOptions } from "../app-options.ts";
import { openHistory } from "../editor/history.ts";
import { createFastClock } from "./clock.ts";
import { createTestDevice, type TestDevice } from "./device.ts";

/** One answer of the scripted model. */
export type Turn = (signal: AbortSignal) => AsyncIterable<StreamEvent>;

export const says = (text: string, calls: { name: string; input: object }[] = []): Turn =>
  async function* () {
    for (const part of text.match(/[\s\S]{1,7}/g) ?? []) yield { type: "text_delta", text: part };
    const content = [
      { type: "text", text } as const,
      ...calls.map(
        ({ name, input }, i) =>
          ({ type: "tool_call", id: `call_${text}_${i}`, name, arguments: JSON.stringify(input) }) as const,
      ),
    ];
    yield {
      type: "done",
      message: { role: "assistant", content },
      stop: calls.length > 0 ? "tool_calls" : "end",
      usage: { ...NO_USAGE, input_tokens: 12_000, cache_read_tokens: 38_000, output_tokens: 800 },
    };
  };

/** Runs until it is stopped. */
export const hangs = (text: string): Turn =>
  async function* (signal) {
    yield { type: "text_delta", text };
    await new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
  };

export const fails = (message: string): Turn =>
  // biome-ignore lint/correctness/useYield: it fails before it says anything.
  async function* () {
    throw new ApiError("auth", message);
  };

export interface TestAppOptions {
  readonly turns: readonly Turn[];
  readonly size?: readonly [columns: number, rows: number];
  readonly model?: Partial<Model>;
  readonly more?: Partial<AppOptions>;
  readonly store?: EventStore;
}

/** The application on an emulated terminal, with a scripted model and tools that only ask. */
export function createTestApp({ turns, size = [80, 24], model = {}, more = {}, store }: TestAppOptions): {
  device: TestDevice;
  app: TerminalApp;
  agent: Agent;
} {
  const device = createTestDevice(...size);
  let app: TerminalApp;
  const agent = new Agent({
    client: clientOf(turns, model),
    tools,
    session: new Session({ id: "ses_1", ...(store && { store }) }),
    ask: (question, signal) => app.ask(question, signal),
  });
  app = new TerminalApp({
    device,
    clock: createFastClock(),
    palette: { depth: "none", background: "dark" },
    agent,
    inputMode: "default",
    history: openHistory(undefined),
    complete: async (word) =>
      word.startsWith("/") ? [{ value: "/help", detail: "list the commands" }] : [{ value: "@src/a.ts" }],
    command: async (line) => (line === "/quit" ? { quit: true } : { text: `ran **${line}**` }),
    facts: () => ({ branch: "main", sandbox: "bubblewrap" }),
    ...more,
  });
  return { device, app, agent };
}

function clientOf(turns: readonly Turn[], model: Partial<Model>): ApiClient {
  let at = 0;
  return {
    model: {
      id: "scripted-1",
      provider: "test",
      context_tokens: 100_000,
      max_output_tokens: 1000,
      price: null,
      images: false,
      thinking: false,
      ...model,
    },
    send: (_request, signal) => (turns[at++] ?? says("Done."))(signal),
  };
}

const definition = (name: string) => ({ name, description: "", input_schema: { type: "object" } });

/** `fs` writes or changes a file and `proc` runs a command, as far as a person can see. */
function actionOf(name: string, input: Readonly<Record<string, unknown>>) {
  if (name === "proc")
    return { action: "proc.exec", summary: "Run a command; it goes on in the background." };
  return "diff" in input
    ? { action: "fs.apply_patch", summary: "Change existing files, all or none." }
    : { action: "fs.write", summary: "Create a new file." };
}

const tools: ToolExecutor = {
  definitions: () => [definition("fs"), definition("proc")],
  outline: ({ name, input }) => ({
    title: `${actionOf(name, input).action} ${String(input["command"] ?? input["uri"])}`,
    kind: name === "proc" ? "execute" : "edit",
    reads_only: false,
    paths: [],
  }),
  async execute({ name, input }, { ask, signal }) {
    const { diff, ...shown } = input;
    const { action, summary } = actionOf(name, input);
    const rule = alwaysFor(action, shown);
    const answer = await createQuestions().ask(
      {
        kind: "permission",
        action,
        summary,
        input: shown,
        ...(typeof diff === "string" && { preview: diff }),
        reason: "no rule allows it",
        tier: "default",
        risk: [],
        session: rule && ruleInWords(rule),
        always: rule && { rule, words: alwaysInWords(rule) },
      },
      { action, caller: "agent", front: ask, signal },
    );
    if (answer.answer === "deny")
      return { content: textParts(`denied: ${answer.reason ?? ""}`), is_error: true };
    return {
      content: textParts("done"),
      is_error: false,
      facts: { diff: "--- a\n+++ a\n@@ -0,0 +1 @@\n+hello\n" },
    };
  },
};

/** Such as the policy would offer. */
function alwaysFor(
  tool_pattern: string,
  { command, uri }: Readonly<Record<string, unknown>>,
): PermissionRule | undefined {
  const lines = typeof command === "string" ? command.split(" && ") : [];
  if (lines.some((line) => line.startsWith("rm "))) return undefined;
  const shapes = lines.map((line) => ({ words: line.split(" "), options: [], operands: "none" }));
  const args = lines.length > 0 ? { command: shapes } : { path: [String(uri).replace(/[^/]*$/, "*")] };
  return PermissionRule.parse({ tool_pattern, mode: "allow", args, expires_at: "2026-12-16T00:00:00Z" });
}
