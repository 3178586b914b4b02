import { checkArguments, checkLength, checkName } from "./openai-chat.ts";
import {
  firstDuplicate,
  hasLoneSurrogate,
  type Json,
  listOf,
  refuse,
  schemaProblem,
  signatureOf,
  stringOf,
} from "./rules.ts";

const MAX_ID = 64;

/** The rules of OpenAI Responses without storage. Throws Refused with its message. */
export function checkResponses(body: Json): void {
  if (hasLoneSurrogate(body)) refuse("We could not parse the JSON body of your request.");
  const input = listOf(body["input"]);
  if (typeof body["input"] !== "string" && input.length === 0)
    refuse("One of \"input\" or \"previous_response_id\" or 'prompt' or 'conversation_id' must be provided.");
  const tools = listOf(body["tools"]).filter(({ type }) => type === "function");
  for (const [at, { name, parameters }] of tools.entries()) {
    checkName(name, `tools[${at}].name`);
    const problem = schemaProblem(parameters);
    if (problem) refuse(`Invalid schema for function '${stringOf(name)}': ${problem}`);
  }
  if (!listOf(body["tools"]).some(({ type }) => type === "web_search")) {
    const at = input.findIndex(({ type }) => type === "web_search_call");
    if (at >= 0) refuse(`input[${at}]: 'web_search_call' needs the tool 'web_search'.`);
  }
  for (const [at, item] of input.entries()) checkItem(item, input[at + 1], `input[${at}]`, body["store"]);
  const ids = input.map(({ id }) => stringOf(id)).filter((id) => id !== "");
  const twice = firstDuplicate(ids);
  if (twice !== undefined)
    refuse(`Duplicate item found with id ${twice}. Remove duplicate items from your input and try again.`);
  checkPairs(input);
}

const isMade = (item: Json | undefined) =>
  item?.["type"] === "function_call" ||
  item?.["type"] === "reasoning" ||
  item?.["role"] === "assistant" ||
  item?.["type"] === "custom_tool_call" ||
  item?.["type"] === "web_search_call";

function checkItem(item: Json, next: Json | undefined, where: string, store: unknown): void {
  const { type } = item;
  if (type === "function_call") {
    checkLength(item["call_id"], MAX_ID, `${where}.call_id`);
    checkName(item["name"], `${where}.name`);
    checkArguments(item["arguments"], `${where}.arguments`);
  }
  if (type === "function_call_output") {
    checkLength(item["call_id"], MAX_ID, `${where}.call_id`);
    if (typeof item["output"] !== "string" && !Array.isArray(item["output"]))
      refuse(`Missing required parameter: '${where}.output'.`);
  }
  if (item["role"] === "user" && Array.isArray(item["content"]) && item["content"].length === 0)
    refuse(
      `Invalid '${where}.content': empty array. Expected an array with minimum length 1, but got an empty array instead.`,
    );
  if (type === "web_search_call") checkSearch(item, where);
  if (type === "reasoning") checkReasoning(item, next, store);
}

const PROOF_CHARS = 16;

/** The part of a search's id that belongs to its content. */
export const searchProof = (action: unknown): string =>
  Buffer.from(signatureOf(JSON.stringify(action)))
    .toString("hex")
    .slice(0, PROOF_CHARS);

function checkSearch({ id, status, action }: Json, where: string): void {
  if (!/^ws_/.test(stringOf(id)))
    refuse(`Invalid '${where}.id': '${stringOf(id)}'. Expected an ID that begins with 'ws'.`);
  if (status !== "completed" && status !== "failed") refuse(`Missing required parameter: '${where}.status'.`);
  if (!stringOf(id).startsWith(`ws_${searchProof(action)}_`))
    refuse(`Item '${stringOf(id)}' of type 'web_search_call' was changed.`);
}

function checkReasoning(item: Json, next: Json | undefined, store: unknown): void {
  const id = stringOf(item["id"]);
  const secret = stringOf(item["encrypted_content"]);
  if (store === false && secret === "")
    refuse(
      `Item with id '${id}' not found. Items are not persisted when \`store\` is set to false. Try again with \`store\` set to true, or remove this item from your input.`,
    );
  const text = listOf(item["summary"])
    .map((part) => stringOf(part["text"]))
    .join("");
  if (secret !== "" && secret !== signatureOf(text))
    refuse(`The encrypted content ${secret.slice(0, 4)}... could not be verified.`);
  if (!isMade(next))
    refuse(`Item '${id}' of type 'reasoning' was provided without its required following item.`);
}

/** Each call has one output somewhere after it. */
function checkPairs(input: readonly Json[]): void {
  const called: string[] = [];
  const answered: string[] = [];
  for (const { type, call_id } of input) {
    if (type === "function_call") called.push(stringOf(call_id));
    if (type !== "function_call_output") continue;
    if (!called.includes(stringOf(call_id)))
      refuse(`No tool call found for function call output with call_id ${stringOf(call_id)}.`);
    answered.push(stringOf(call_id));
  }
  const open = called.find((id) => !answered.includes(id));
  if (open !== undefined) refuse(`No tool output found for function call ${open}.`);
  const twice = firstDuplicate(called) ?? firstDuplicate(answered);
  if (twice !== undefined)
    refuse(
      `Duplicate item found with call_id ${twice}. Remove duplicate items from your input and try again.`,
    );
}
