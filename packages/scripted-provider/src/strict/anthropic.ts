import { checkSearches } from "./anthropic-search.ts";
import {
  COMBINATORS,
  firstDuplicate,
  hasLoneSurrogate,
  type Json,
  listOf,
  objectOf,
  refuse,
  type Sent,
  signatureOf,
  stringOf,
} from "./rules.ts";

const NAME = /^[a-zA-Z0-9_-]{1,128}$/;
const ID = /^[a-zA-Z0-9_-]+$/;
const PROPERTY = /^[a-zA-Z0-9_.-]{1,64}$/;
const IMAGES = ["image/jpeg", "image/png", "image/gif", "image/webp"];
const MAX_IMAGE_BYTES = 5 * 1024 * 1024;
const MAX_CACHE_MARKS = 4;
/** The fields of the blocks that a conversation with own tools has. */
const FIELDS: Readonly<Record<string, readonly string[]>> = {
  text: ["type", "text", "cache_control", "citations"],
  image: ["type", "source", "cache_control"],
  tool_use: ["type", "id", "name", "input", "cache_control", "caller"],
  tool_result: ["type", "tool_use_id", "content", "is_error", "cache_control"],
  server_tool_use: ["type", "id", "name", "input", "cache_control", "caller"],
  web_search_tool_result: ["type", "tool_use_id", "content", "cache_control", "caller"],
  thinking: ["type", "thinking", "signature"],
  redacted_thinking: ["type", "data"],
};

/** With this beta header, as Claude Code sends it, system messages may stand between the others. */
const SYSTEM_MESSAGES_BETA = "mid-conversation-system-";

/** The rules of Anthropic Messages. Throws Refused with its message. */
export function checkAnthropic(body: Json, { headers }: Sent): void {
  if (hasLoneSurrogate(body)) refuse("The request body is not valid JSON: no low surrogate in string");
  if (typeof body["max_tokens"] !== "number") refuse("max_tokens: Field required");
  const all = listOf(body["messages"]);
  const betas = String(headers["anthropic-beta"] ?? "");
  const messages = betas.includes(SYSTEM_MESSAGES_BETA) ? all.filter(({ role }) => role !== "system") : all;
  if (messages.length === 0) refuse("messages: at least one message is required");
  checkTools(listOf(body["tools"]));
  for (const block of listOf(body["system"]))
    if (stringOf(block["text"]) === "") refuse("system: text content blocks must be non-empty");
  for (const [at, message] of messages.entries()) checkMessage(message, at);
  if (messages[0]?.["role"] !== "user") refuse('messages: first message must use the "user" role');
  checkSearches(listOf(body["tools"]), messages);
  if (messages.at(-1)?.["role"] !== "user" && ofType(messages.at(-1), "server_tool_use").length === 0)
    refuse(
      "This model does not support assistant message prefill. The conversation must end with a user message.",
    );
  checkPairs(messages);
  checkThinking(body, messages);
  const marks = JSON.stringify(body).match(/"cache_control":\{/g)?.length ?? 0;
  if (marks > MAX_CACHE_MARKS)
    refuse(`A maximum of ${MAX_CACHE_MARKS} blocks with cache_control may be provided. Found ${marks}.`);
}

function checkTools(tools: readonly Json[]): void {
  const own = tools.filter(({ type }) => type === undefined || type === "custom");
  for (const [at, { name, input_schema }] of own.entries()) {
    const where = `tools.${at}.custom`;
    if (!NAME.test(stringOf(name))) refuse(`${where}.name: String should match pattern '${NAME.source}'`);
    const schema = objectOf(input_schema);
    if (schema?.["type"] !== "object") refuse(`${where}.input_schema.type: Input should be 'object'`);
    if (COMBINATORS.slice(0, 3).some((word) => word in schema))
      refuse(`${where}.input_schema: input_schema does not support oneOf, allOf, or anyOf at the top level`);
    if (Object.keys(objectOf(schema["properties"]) ?? {}).some((key) => !PROPERTY.test(key)))
      refuse(`${where}.input_schema.properties: Property keys should match pattern '${PROPERTY.source}'`);
  }
  if (firstDuplicate(tools.map(({ name }) => stringOf(name)))) refuse("tools: Tool names must be unique.");
}

function checkMessage({ role, content }: Json, at: number): void {
  const where = `messages.${at}`;
  if (role !== "user" && role !== "assistant")
    refuse(`messages: Unexpected role "${String(role)}". Allowed roles are "user" or "assistant".`);
  const blocks = blocksOf(content);
  if (blocks.length === 0) refuse(`${where}: all messages must have non-empty content`);
  for (const [index, block] of blocks.entries()) checkBlock(block, `${where}.content.${index}`);
}

const blocksOf = (content: unknown): readonly Json[] =>
  typeof content === "string" ? [{ type: "text", text: content }] : listOf(content);

function checkBlock(block: Json, where: string): void {
  const type = stringOf(block["type"]);
  const extra = Object.keys(block).find((field) => FIELDS[type]?.includes(field) === false);
  if (extra !== undefined) refuse(`${where}.${type}.${extra}: Extra inputs are not permitted`);
  if (type === "text") checkText(block["text"]);
  if (type === "image") checkImage(objectOf(block["source"]), `${where}.image.source`);
  if (type === "tool_use") {
    if (!ID.test(stringOf(block["id"])))
      refuse(`${where}.tool_use.id: String should match pattern '${ID.source}'`);
    if (!NAME.test(stringOf(block["name"])))
      refuse(`${where}.tool_use.name: String should match pattern '${NAME.source}'`);
    if (!objectOf(block["input"])) refuse(`${where}.tool_use.input: Input should be a valid dictionary`);
  }
  if (type === "tool_result") {
    const inner = blocksOf(block["content"]);
    if (block["is_error"] === true && inner.every(({ text }) => stringOf(text) === ""))
      refuse(`${where}: content cannot be empty if \`is_error\` is true`);
    for (const [at, one] of inner.entries())
      if (block["content"] !== "") checkBlock(one, `${where}.tool_result.content.${at}`);
  }
}

function checkText(text: unknown): void {
  if (stringOf(text) === "") refuse("messages: text content blocks must be non-empty");
  if (stringOf(text).trim() === "") refuse("messages: text content blocks must contain non-whitespace text");
}

function checkImage(source: Json | undefined, where: string): void {
  if (source?.["type"] !== "base64") return;
  if (!IMAGES.includes(stringOf(source["media_type"])))
    refuse(
      `${where}.base64.media_type: Input should be 'image/jpeg', 'image/png', 'image/gif' or 'image/webp'`,
    );
  const { length } = Buffer.from(stringOf(source["data"]), "base64");
  if (length > MAX_IMAGE_BYTES)
    refuse(`${where}.base64: image exceeds 5 MB maximum: ${length} bytes > ${MAX_IMAGE_BYTES} bytes`);
}

const ofType = (message: Json | undefined, type: string) =>
  blocksOf(message?.["content"]).filter((block) => block["type"] === type);

/** The results of all calls are at the start of the next message, and nowhere else. */
function checkPairs(messages: readonly Json[]): void {
  const all = messages.flatMap((message) => ofType(message, "tool_use").map(({ id }) => stringOf(id)));
  if (firstDuplicate(all) !== undefined) refuse("messages: `tool_use` ids must be unique");
  for (const [at, message] of messages.entries()) {
    const results = blocksOf(message["content"]).map(({ type, tool_use_id }) =>
      type === "tool_result" ? stringOf(tool_use_id) : undefined,
    );
    const called = ofType(messages[at - 1], "tool_use").map(({ id }) => stringOf(id));
    for (const [index, id] of results.entries())
      if (id !== undefined && (message["role"] !== "user" || !called.includes(id)))
        refuse(
          `messages.${at}.content.${index}: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${id}. Each \`tool_result\` block must have a corresponding \`tool_use\` block in the previous message.`,
        );
    const given = results.filter((id) => id !== undefined);
    const twice = firstDuplicate(given);
    if (twice !== undefined)
      refuse(
        `messages.${at}.content.${results.lastIndexOf(twice)}: each tool_use must have a single result. Found multiple \`tool_result\` blocks with id: ${twice}`,
      );
    const first = results.slice(0, called.length);
    const open = called.filter((id) => !first.includes(id));
    if (open.length > 0) refuseOpen(at - 1, open);
  }
  const last = ofType(messages.at(-1), "tool_use").map(({ id }) => stringOf(id));
  if (last.length > 0) refuseOpen(messages.length - 1, last);
}

const refuseOpen = (at: number, ids: readonly string[]): never =>
  refuse(
    `messages.${at}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${ids.join(", ")}. Each \`tool_use\` block must have a corresponding \`tool_result\` block in the next message.`,
  );

function checkThinking(body: Json, messages: readonly Json[]): void {
  for (const [at, message] of messages.entries()) {
    const blocks = blocksOf(message["content"]);
    for (const [index, block] of blocks.entries()) {
      if (block["type"] !== "thinking") continue;
      const where = `messages.${at}.content.${index}`;
      if (stringOf(block["signature"]) === "") refuse(`${where}.thinking.signature: Field required`);
      if (block["signature"] !== signatureOf(stringOf(block["thinking"])))
        refuse(`${where}: Invalid \`signature\` in \`thinking\` block`);
    }
    if (/thinking$/.test(stringOf(blocks.at(-1)?.["type"])))
      refuse(`messages.${at}: The final block in an assistant message cannot be \`thinking\`.`);
  }
  const type = objectOf(body["thinking"])?.["type"];
  if (type === "enabled") checkTurn(messages);
}

/** A turn that continues after the results of its calls began with thinking. */
function checkTurn(messages: readonly Json[]): void {
  const isAsked = (message: Json) =>
    message["role"] === "user" && ofType(message, "tool_result").length === 0;
  const start = messages.findLastIndex(isAsked) + 1;
  const [first] = blocksOf(messages[start]?.["content"]);
  if (!first || /thinking$/.test(stringOf(first["type"]))) return;
  refuse(
    `messages.${start}.content.0.type: Expected \`thinking\` or \`redacted_thinking\`, but found \`${stringOf(first["type"])}\`. When \`thinking\` is enabled, a final \`assistant\` message must start with a thinking block (preceding the lastmost set of \`tool_use\` and \`tool_result\` blocks).`,
  );
}
