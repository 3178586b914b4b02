import {
  firstDuplicate,
  hasLoneSurrogate,
  type Json,
  listOf,
  objectOf,
  refuse,
  schemaProblem,
  stringOf,
} from "./rules.ts";

const NAME = /^[a-zA-Z0-9_-]+$/;
const MAX_NAME = 64;
const MAX_ID = 40;
const MAX_TOOLS = 128;
const ROLES = ["system", "developer", "user", "assistant", "tool", "function"];
const IMAGE = /^(https?:|data:image\/(jpeg|png|gif|webp);base64,)/;

/**
 * The rules of OpenAI Chat Completions, and those of compatible servers that refuse more: empty messages, and
 * arguments that are not JSON. Throws Refused with the message.
 */
export function checkChat(body: Json): void {
  if (hasLoneSurrogate(body))
    refuse(
      "We could not parse the JSON body of your request. (HINT: This likely means you aren't using your HTTP library correctly.)",
    );
  const messages = listOf(body["messages"]);
  if (messages.length === 0)
    refuse(
      "Invalid 'messages': empty array. Expected an array with minimum length 1, but got an empty array instead.",
    );
  checkTools(body["tools"]);
  for (const [at, message] of messages.entries()) checkMessage(message, `messages[${at}]`);
  const last = messages.at(-1)?.["role"];
  if (last !== "user" && last !== "tool")
    refuse(
      `Expected last role User or Tool (or Assistant with prefix True) for serving but got ${String(last)}`,
    );
  checkPairs(messages);
}

function checkTools(given: unknown): void {
  if (given === undefined) return;
  const tools = listOf(given).map((tool) => objectOf(tool["function"]));
  if (tools.length === 0)
    refuse(
      "Invalid 'tools': empty array. Expected an array with minimum length 1, but got an empty array instead.",
    );
  if (tools.length > MAX_TOOLS)
    refuse(
      `Invalid 'tools': array too long. Expected an array with maximum length ${MAX_TOOLS}, but got an array with length ${tools.length} instead.`,
    );
  for (const [at, tool] of tools.entries()) {
    checkName(tool?.["name"], `tools[${at}].function.name`);
    const problem = schemaProblem(tool?.["parameters"]);
    if (problem) refuse(`Invalid schema for function '${stringOf(tool?.["name"])}': ${problem}`);
  }
  const twice = firstDuplicate(tools.map((tool) => stringOf(tool?.["name"])));
  if (twice !== undefined) refuse(`Duplicate function name in tools: ${twice}`);
}

export function checkName(name: unknown, where: string): void {
  if (!NAME.test(stringOf(name)))
    refuse(
      `Invalid '${where}': string does not match pattern. Expected a string that matches the pattern '${NAME.source}'.`,
    );
  checkLength(name, MAX_NAME, where);
}

export function checkLength(value: unknown, max: number, where: string): void {
  const { length } = stringOf(value);
  if (length === 0)
    refuse(
      `Invalid '${where}': empty string. Expected a string with minimum length 1, but got an empty string instead.`,
    );
  if (length > max)
    refuse(
      `Invalid '${where}': string too long. Expected a string with maximum length ${max}, but got a string with length ${length} instead.`,
    );
}

/** Some servers parse the arguments of earlier calls, and fail on a part of them. */
export function checkArguments(text: unknown, where: string): void {
  try {
    if (objectOf(JSON.parse(stringOf(text)))) return;
  } catch {
    // Refused below.
  }
  refuse(`Invalid '${where}': expected the arguments as a JSON object.`);
}

function checkMessage({ role, content, tool_calls, tool_call_id }: Json, where: string): void {
  if (!ROLES.includes(stringOf(role)))
    refuse(
      `Invalid value: '${String(role)}'. Supported values are: ${ROLES.map((one) => `'${one}'`).join(", ")}.`,
    );
  if (role === "tool" && typeof content !== "string" && !Array.isArray(content))
    refuse("Invalid value for 'content': expected a string, got null.");
  if (role === "tool") checkLength(tool_call_id, MAX_ID, `${where}.tool_call_id`);
  if (role === "user" || role === "system") checkContent(content, where);
  if (role !== "assistant") return;
  if (tool_calls === undefined) checkContent(content, where);
  else if (listOf(tool_calls).length === 0)
    refuse(
      `Invalid '${where}.tool_calls': empty array. Expected an array with minimum length 1, but got an empty array instead.`,
    );
  for (const [at, call] of listOf(tool_calls).entries()) {
    const on = `${where}.tool_calls[${at}]`;
    const made = objectOf(call["function"]);
    checkLength(call["id"], MAX_ID, `${on}.id`);
    checkName(made?.["name"], `${on}.function.name`);
    checkArguments(made?.["arguments"], `${on}.function.arguments`);
  }
}

function checkContent(content: unknown, where: string): void {
  if (content === null || content === undefined)
    refuse("Invalid value for 'content': expected a string, got null.");
  const parts = typeof content === "string" ? [{ type: "text", text: content }] : listOf(content);
  if (parts.length === 0 || parts.some(({ type, text }) => type === "text" && stringOf(text) === ""))
    refuse(`Invalid request: ${where}.content must not be empty`);
  for (const part of parts) {
    const url = objectOf(part["image_url" as keyof typeof part])?.["url"];
    if (url !== undefined && !IMAGE.test(stringOf(url)))
      refuse(
        "You uploaded an unsupported image. Please make sure your image has of one the following formats: ['png', 'jpeg', 'gif', 'webp'].",
      );
  }
}

function checkPairs(messages: readonly Json[]): void {
  for (const [at, message] of messages.entries()) {
    const ids = listOf(message["tool_calls"]).map(({ id }) => stringOf(id));
    const after = messages.slice(at + 1);
    const end = after.findIndex(({ role }) => role !== "tool");
    const given = (end < 0 ? after : after.slice(0, end)).map((one) => stringOf(one["tool_call_id"]));
    const open = ids.filter((id) => !given.includes(id));
    if (open.length > 0)
      refuse(
        `An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: ${open.join(", ")}`,
      );
    if (message["role"] !== "tool") continue;
    const caller = messages.slice(0, at).findLast(({ role }) => role !== "tool");
    const called = listOf(caller?.["tool_calls"]).map(({ id }) => stringOf(id));
    if (!called.includes(stringOf(message["tool_call_id"])))
      refuse(
        "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.",
      );
  }
  const results = messages.flatMap(({ role, tool_call_id }) =>
    role === "tool" ? [stringOf(tool_call_id)] : [],
  );
  const twice = firstDuplicate(results);
  if (twice !== undefined) refuse(`Duplicate value for 'tool_call_id' of ${twice}`);
}
