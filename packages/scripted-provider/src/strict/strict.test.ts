import { expect, test } from "vitest";
import type { ApiName } from "../script.ts";
import { refusalOf } from "./index.ts";
import { signatureOf } from "./rules.ts";

const refused = (api: ApiName, body: object): string =>
  JSON.stringify(
    refusalOf(api, JSON.stringify(body), { ...body }, { path: "/v1beta/models/gemini-3-pro", headers: {} })
      ?.body ?? "",
  );

const user = (...content: object[]) => ({ role: "user", content });
const assistant = (...content: object[]) => ({ role: "assistant", content });
const said = (text: string) => ({ type: "text", text });
const use = (id: string, name = "fs") => ({ type: "tool_use", id, name, input: {} });
const result = (id: string) => ({ type: "tool_result", tool_use_id: id, content: "ok" });
const thought = (thinking: string, signature = signatureOf(thinking)) => ({
  type: "thinking",
  thinking,
  signature,
});
const HI = user(said("hi"));

test.each([
  ["", [HI]],
  ["", [HI, HI, assistant(thought("t"), use("a"), use("b")), user(result("b"), result("a"), said("x")), HI]],
  ["at least one message is required", []],
  ["first message must use the", [assistant(said("x")), HI]],
  ["must end with a user message", [HI, assistant(said("x"))]],
  [
    "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: a",
    [HI, assistant(use("a")), HI],
  ],
  ["messages.1: `tool_use` ids were found without", [HI, assistant(use("a")), user(said("x"), result("a"))]],
  ["messages.1: `tool_use` ids were found without", [HI, assistant(use("a")), HI, user(result("a"))]],
  ["messages.0.content.0: unexpected `tool_use_id` found in `tool_result` blocks: a", [user(result("a"))]],
  [
    "Found multiple `tool_result` blocks with id: a",
    [HI, assistant(use("a"), use("b")), user(result("a"), result("a"))],
  ],
  ["`tool_use` ids must be unique", [HI, assistant(use("a"), use("a")), user(result("a"))]],
  [
    "messages.1.content.0.tool_use.name: String should match",
    [HI, assistant(use("a", "fs.read")), user(result("a"))],
  ],
  ["messages.1.content.0.tool_use.id: String should match", [HI, assistant(use("a b")), user(result("a b"))]],
  ["text content blocks must be non-empty", [user(said(""))]],
  ["must contain non-whitespace text", [user(said(" \n"))]],
  ["all messages must have non-empty content", [HI, assistant(), HI]],
  ["Invalid `signature` in `thinking` block", [HI, assistant(thought("t", "x"), said("x")), HI]],
  ["thinking.signature: Field required", [HI, assistant(thought("t", ""), said("x")), HI]],
  [
    "The final block in an assistant message cannot be `thinking`",
    [HI, assistant(said("x"), thought("t")), HI],
  ],
  [
    "media_type: Input should be",
    [user({ type: "image", source: { type: "base64", media_type: "image/svg+xml", data: "" } })],
  ],
  ["text.origin: Extra inputs are not permitted", [user({ ...said("x"), origin: "person" })]],
  ["no low surrogate in string", [user(said("\ud83d"))]],
])("Anthropic answers %j", (message, messages) => {
  const answer = refused("anthropic", { max_tokens: 9, messages });
  expect(answer).toMatch(message === "" ? /^""$/ : "");
  expect(answer).toContain(message);
});

const called = (...ids: string[]) => ({
  role: "assistant",
  content: null,
  tool_calls: ids.map((id) => ({ id, type: "function", function: { name: "fs", arguments: "{}" } })),
});
const toolSays = (id: string) => ({ role: "tool", tool_call_id: id, content: "" });
const ASKED = { role: "user", content: "hi" };

test.each([
  ["", [ASKED, called("a", "b"), toolSays("b"), toolSays("a"), ASKED]],
  ["did not have response messages: a", [ASKED, called("a"), ASKED]],
  ["did not have response messages: b", [ASKED, called("a", "b"), toolSays("a")]],
  ["must be a response to a preceeding message", [ASKED, toolSays("a")]],
  ["must be a response to a preceeding message", [ASKED, called("a"), toolSays("a"), ASKED, toolSays("a")]],
  [
    "Expected a string with maximum length 40, but got a string with length 41",
    [ASKED, called("a".repeat(41)), ASKED],
  ],
  ["expected a string, got null", [ASKED, { role: "assistant", content: null }, ASKED]],
  ["content must not be empty", [ASKED, { role: "assistant", content: "" }, ASKED]],
  ["Expected last role User or Tool", [ASKED, { role: "assistant", content: "x" }]],
])("Chat Completions answers %j", (message, messages) => {
  const answer = refused("openai-chat", { messages });
  expect(answer).toMatch(message === "" ? /^""$/ : "");
  expect(answer).toContain(message);
});

const makes = (call_id: string) => ({ type: "function_call", call_id, name: "fs", arguments: "{}" });
const gives = (call_id: string) => ({ type: "function_call_output", call_id, output: "" });
const reasons = (id: string, encrypted_content = signatureOf("")) => ({
  type: "reasoning",
  id,
  summary: [],
  encrypted_content,
});

test.each([
  ["", [ASKED, reasons("rs_1"), makes("a"), ASKED, gives("a")]],
  ["No tool output found for function call a.", [ASKED, makes("a"), ASKED]],
  ["No tool call found for function call output with call_id a.", [ASKED, gives("a")]],
  [
    "'rs_1' of type 'reasoning' was provided without its required following item",
    [ASKED, reasons("rs_1"), ASKED],
  ],
  [
    "Items are not persisted when `store` is set to false",
    [ASKED, reasons("rs_1", ""), makes("a"), gives("a")],
  ],
  ["Duplicate item found with id rs_1", [ASKED, reasons("rs_1"), reasons("rs_1"), makes("a"), gives("a")]],
])("Responses answers %j", (message, input) => {
  const answer = refused("openai", { store: false, input });
  expect(answer).toMatch(message === "" ? /^""$/ : "");
  expect(answer).toContain(message);
});

const turn = (role: string, ...parts: object[]) => ({ role, parts });
const runs = (more: object = { thoughtSignature: signatureOf("{}") }) => ({
  functionCall: { name: "fs", args: {} },
  ...more,
});
const answers = { functionResponse: { name: "fs", response: {} } };
const words = { text: "hi" };

test.each([
  [
    "",
    [
      turn("user", words),
      turn("model", words, runs(), runs({})),
      turn("user", answers, answers),
      turn("user", words),
    ],
  ],
  [
    "comes immediately after a user turn",
    [turn("user", words), turn("model", words), turn("model", runs()), turn("user", answers)],
  ],
  [
    "is equal to the number of function call parts",
    [turn("user", words), turn("model", runs()), turn("user", words)],
  ],
  [
    "is equal to the number of function call parts",
    [turn("user", words), turn("model", runs(), runs()), turn("user", answers)],
  ],
  ["comes immediately after a function call turn", [turn("user", words), turn("user", answers)]],
  ["missing a thought_signature", [turn("user", words), turn("model", runs({})), turn("user", answers)]],
  [
    "Corrupted thought signature",
    [turn("user", words), turn("model", runs({ thoughtSignature: "x" })), turn("user", answers)],
  ],
  ["empty text parameter", [turn("user", { text: "" })]],
  ["contents.parts must not be empty", [turn("user")]],
  ["end with a user role", [turn("user", words), turn("model", words)]],
])("Gemini answers %j", (message, contents) => {
  const answer = refused("gemini", { contents });
  expect(answer).toMatch(message === "" ? /^""$/ : "");
  expect(answer).toContain(message);
});

test.each([
  [{ anyOf: [{ type: "object" }] }, /type: .+None|Input should be 'object'/],
  [{ type: "object", oneOf: [] }, /at the top level/],
  [{ type: "object", properties: { a: { type: "array" } } }, /array schema missing items|""/],
])("the schema %j of a tool is refused by those that refuse it", (schema, message) => {
  const messages = [HI];
  const tool = { name: "t", input_schema: schema };
  expect(refused("anthropic", { max_tokens: 9, messages, tools: [tool] })).toMatch(message);
  const asked = {
    messages: [ASKED],
    tools: [{ type: "function", function: { name: "t", parameters: schema } }],
  };
  expect(refused("openai-chat", asked)).toMatch(message);
  expect(
    refused("openai", { input: [ASKED], tools: [{ type: "function", name: "t", parameters: schema }] }),
  ).toMatch(message);
});
