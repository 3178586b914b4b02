import { expect, test } from "vitest";
import type { ModelRequest } from "../api-client.ts";
import type { Message } from "../messages.ts";
import { anthropicMessages } from "./anthropic.ts";
import { findModel } from "./catalog.ts";
import { gemini } from "./gemini.ts";
import { openaiChat } from "./openai-chat.ts";
import { openaiResponses } from "./openai-responses.ts";
import { createBodyEncoder } from "./request-body.ts";
import { toSendable } from "./sendable.ts";

const says = (text: string): Message => ({
  role: "user",
  origin: "person",
  content: [{ type: "text", text }],
});
const TURN: readonly Message[] = [
  {
    role: "assistant",
    content: [
      { type: "text", text: "I look… 👋" },
      { type: "tool_call", id: "c1", name: "fs", arguments: '{"a":1}' },
      { type: "tool_call", id: "c2", name: "fs", arguments: "" },
    ],
  },
  {
    role: "tool",
    results: ["c1", "c2"].map((call_id) => ({
      call_id,
      name: "fs",
      content: [{ type: "text", text: "ü".repeat(40_000) }],
      is_error: false,
    })),
  },
];
const requestOf = (messages: readonly Message[]): ModelRequest => ({
  system: "Be brief.",
  tools: [],
  messages,
});

test.each([
  ["anthropic", anthropicMessages],
  ["responses", openaiResponses],
  ["chat", openaiChat],
  ["gemini", gemini],
])(
  "%s: a request that grows, shrinks or belongs to another conversation is what it would be alone",
  (_, api) => {
    const model = findModel("p", "some-model");
    const encode = createBodyEncoder(api);
    const textOf = (messages: readonly Message[], by = encode) =>
      Buffer.concat(by(requestOf(messages), model)).toString();
    const growing: Message[] = [says("one")];
    const kept = encode(requestOf(growing), model);
    const before = Buffer.concat(kept).toString();
    const conversations = [
      growing,
      [...growing, ...TURN],
      [...growing, ...TURN, says("two"), ...TURN],
      [says("one"), ...TURN],
      [...growing, says("three")],
      [],
    ];
    for (const messages of conversations) {
      const text = textOf(messages);
      expect(text).toBe(textOf(messages, createBodyEncoder(api)));
      const whole = api.body(
        requestOf(messages),
        model,
        messages.flatMap((one) => api.toItems(toSendable(one) ?? one, model)),
      );
      expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(whole)));
    }
    // A request in flight does not change.
    expect(Buffer.concat(kept).toString()).toBe(before);
  },
);
