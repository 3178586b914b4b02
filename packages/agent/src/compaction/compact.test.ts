import { expect, test } from "vitest";
import { Agent } from "../agent.ts";
import { ApiError } from "../api-error.ts";
import type { AgentEvent } from "../events.ts";
import { type Message, textOf, textParts } from "../messages.ts";
import { Session } from "../session.ts";
import { call, createScriptedClient, done, TEST_MODEL, type Turn, text } from "../testing/scripted-client.ts";
import { createTestTools } from "../testing/tools.ts";
import { messagesTokens } from "../tokens.ts";
import { COMPACTED, compactMessages } from "./compact.ts";

const user = (words: string): Message => ({ role: "user", origin: "person", content: textParts(words) });
const answer = (words: string): Message => ({ role: "assistant", content: [text(words)] });
const turn = (id: number, result = "r".repeat(400)): Message[] => [
  { role: "assistant", content: [{ type: "tool_call", id: `c${id}`, name: "fs", arguments: `{"n":${id}}` }] },
  { role: "tool", results: [{ call_id: `c${id}`, name: "fs", content: textParts(result), is_error: false }] },
];
const LONG: readonly Message[] = [
  user("Fix the bug."),
  ...[1, 2, 3, 4, 5, 6].flatMap((id) => turn(id)),
  answer("Done."),
];

test.each([0, 1, 2, 3, 5])(
  "with %i turns kept, calls stay with their results and the rest becomes one message",
  (reserve_recent) => {
    const result = compactMessages(LONG, {
      reserve_recent,
      ledger: "# Goal\n- Fix",
      summary: "It went well.",
    });
    if (!result) expect.unreachable("nothing was compacted");
    const { messages, tokens_saved } = result;
    expect(messages[0]).toMatchObject({ role: "user", origin: "summary" });
    expect(textOf(messages[0]?.role === "user" ? messages[0].content : [])).toMatch(
      /# Goal\n- Fix\n\n# Summary\nIt went well\.$/,
    );
    expect(tokens_saved).toBe(messagesTokens(LONG) - messagesTokens(messages));
    expect(tokens_saved).toBeGreaterThan(0);
    for (const [at, message] of messages.entries()) {
      if (message.role === "tool") expect(messages[at - 1]?.role).toBe("assistant");
      if (message.role === "assistant" && message.content.some(({ type }) => type === "tool_call"))
        expect(messages[at + 1]?.role).toBe("tool");
    }
    expect(messages.filter(({ role }) => role === "assistant")).toHaveLength(reserve_recent);
    // The request is preserved verbatim.
    expect(messages).toContainEqual(user("Fix the bug."));
    expect(
      compactMessages(LONG, { reserve_recent, ledger: "# Goal\n- Fix", summary: "It went well." }),
    ).toEqual(result);
  },
);

test("without a summary the messages are shortened, and results become [compacted]", () => {
  const result = compactMessages(LONG, { reserve_recent: 1, ledger: "" });
  const [first] = result?.messages ?? [];
  const digest = first?.role === "user" ? textOf(first.content) : "";
  expect(digest).toContain(`- call fs {"n":1}\n- result of fs: ${COMPACTED}`);
  expect(digest).not.toContain("rrrr");
});

test("a conversation that would not get smaller is left alone", () => {
  expect(compactMessages([user("Hi"), answer("Hello")], { reserve_recent: 3, ledger: "" })).toBeUndefined();
  const short = [user("a"), ...turn(1, "b"), answer("c")];
  expect(
    compactMessages(short, { reserve_recent: 1, ledger: "l".repeat(5_000), summary: "s".repeat(5_000) }),
  ).toBeUndefined();
});

const MODEL = { ...TEST_MODEL, context_tokens: 8_000, max_output_tokens: 1_000 };

function setUp(turns: readonly Turn[]) {
  const client = createScriptedClient(turns, MODEL);
  const session = new Session({ id: "ses_1" });
  const events: AgentEvent[] = [];
  session.subscribe((event) => events.push(event));
  let count = 0;
  const tools = createTestTools({
    read: () => ({
      content: textParts(`result ${++count} ${"x".repeat(6_000)}`),
      is_error: false,
      facts: { read: [{ path: `file:///p/${count}.ts`, hash: `sha256:${count}` }] },
    }),
  });
  const agent = new Agent({ client, tools, session, system: "Rules: never delete." });
  return {
    agent,
    client,
    events,
    compactions: () => events.flatMap((event) => (event.type === "compaction" ? [event] : [])),
  };
}
const sized = (content: Parameters<typeof done>[0], input_tokens: number): Turn =>
  async function* () {
    const event = done(content);
    yield { ...event, usage: { ...event.usage, input_tokens } };
  };

test("at nine tenths of the budget the conversation is compacted before the next request, and the system prompt stays", async () => {
  const { agent, client, compactions } = setUp([
    sized([call("read")], 1_000),
    sized([call("read")], 3_000),
    sized([call("read")], 4_900),
    sized([text("I have read two files.")], 5_000),
    sized([call("read")], 2_000),
    [text("Done.")],
  ]);
  expect(await agent.send("Read it all.")).toMatchObject({ reason: "done" });
  expect(compactions()).toMatchObject([{ cause: "budget", summarized: true }]);
  const [event] = compactions();
  expect(event?.tokens_after).toBeLessThan(event?.tokens_before ?? 0);
  const summary = client.requests[3]?.messages.at(-1);
  expect(summary?.role === "user" && textOf(summary.content)).toContain("write a summary");
  const after = client.requests[4];
  const record = after?.messages[0]?.role === "user" ? textOf(after.messages[0].content) : "";
  expect(record).toContain("# Goal\n- Read it all.");
  expect(record).toContain("file:///p/1.ts sha256:1");
  expect(record).toContain("# Summary\nI have read two files.");
  for (const { system, tools } of client.requests)
    expect([system, tools]).toEqual([client.requests[0]?.system, client.requests[0]?.tools]);
});

test("a conversation that the provider rejects as too long is compacted, and the run continues", async () => {
  const tooLong: Turn = () => {
    throw new ApiError("context_length", "prompt is too long");
  };
  const { agent, client, compactions } = setUp([
    ...Array.from({ length: 5 }, () => sized([call("read")], 500)),
    tooLong,
    tooLong,
    [text("Done.")],
  ]);
  expect(await agent.send("Read it all.")).toMatchObject({ reason: "done" });
  expect(compactions()).toMatchObject([{ cause: "context_length", summarized: false }]);
  const record = client.requests[7]?.messages[0];
  expect(record?.role === "user" && textOf(record.content)).toContain(`result of read: ${COMPACTED}`);
  expect(JSON.stringify(client.requests[6]?.messages)).not.toContain("xxxx");
});

test("when nothing can be left out, the provider's refusal ends the run", async () => {
  const { agent } = setUp([
    () => {
      throw new ApiError("context_length", "prompt is too long");
    },
    [text("a summary")],
  ]);
  expect(await agent.send("Hi")).toMatchObject({
    reason: "failed",
    message: expect.stringMatching(/^prompt is too long; nothing can be left out: send less/),
  });
});

test("the ledger survives any number of compactions: it is derived from the events", async () => {
  const either: Turn = async function* (request) {
    const last = request.messages.at(-1);
    const isAsked = last?.role === "user" && textOf(last.content).includes("write a summary");
    const event = done(isAsked ? [text("More was read.")] : [call("read")]);
    yield { ...event, usage: { ...event.usage, input_tokens: 6_500 } };
  };
  const { agent, compactions } = setUp(Array.from({ length: 40 }, () => either));
  await agent.send("Read it all.", { limits: { max_turns: 10 } });
  expect(compactions().length).toBeGreaterThan(1);
  for (const { messages } of compactions()) {
    const [first] = messages;
    const record = first?.role === "user" ? textOf(first.content) : "";
    expect(record).toContain("# Goal\n- Read it all.");
    expect(record).toContain("file:///p/1.ts sha256:1");
  }
});
