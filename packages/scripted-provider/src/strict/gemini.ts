import {
  hasLoneSurrogate,
  type Json,
  listOf,
  objectOf,
  refuse,
  type Sent,
  signatureOf,
  stringOf,
} from "./rules.ts";

const DATA = [
  ...["text", "functionCall", "functionResponse", "inlineData", "fileData"],
  ...["toolCall", "toolResponse"],
];
const NAME = /^[A-Za-z_][A-Za-z0-9_.:-]{0,63}$/;
const IMAGES = /^image\/(png|jpeg|webp|heic|heif)$/;
/** Stands for the signature of a call that another model made. */
const SKIPPED = "skip_thought_signature_validator";

/** The rules of Gemini; those of version 3 for models whose name does not say otherwise. Throws Refused. */
export function checkGemini(body: Json, { path }: Sent): void {
  if (hasLoneSurrogate(body)) refuse("Invalid JSON payload received. Invalid unicode in string.");
  const contents = listOf(body["contents"]);
  if (contents.length === 0) refuse("* GenerateContentRequest.contents: contents is not specified");
  checkDeclarations(listOf(body["tools"]).flatMap((tool) => listOf(tool["functionDeclarations"])));
  for (const [at, content] of contents.entries()) checkContent(content, at);
  if (contents.at(-1)?.["role"] === "model")
    refuse("Please ensure that multiturn requests end with a user role or a function response.");
  checkOrder(contents);
  const isVersion3 = !/gemini-[12]\b/.test(path);
  checkSearches(body, contents, isVersion3);
  if (isVersion3) checkSignatures(contents);
}

export const SEARCH_TYPE = "GOOGLE_SEARCH_WEB";

/** The rules of Google's search: beside functions only since version 3, when its steps may be reported. */
function checkSearches(body: Json, contents: readonly Json[], isVersion3: boolean): void {
  const tools = listOf(body["tools"]);
  const isOffered = tools.some((tool) => "googleSearch" in tool);
  const isReported = objectOf(body["toolConfig"])?.["includeServerSideToolInvocations"] === true;
  if (isOffered && tools.some((tool) => "functionDeclarations" in tool)) {
    if (!isVersion3)
      refuse("Built-in tools ({google_search}) and Function Calling cannot be combined in the same request.");
    if (!isReported)
      refuse(
        "Please enable tool_config.include_server_side_tool_invocations to use Built-in tools with Function calling.",
      );
  }
  const parts = contents.flatMap(({ parts }) => listOf(parts));
  const asked = new Set<string>();
  for (const part of parts)
    for (const kind of ["toolCall", "toolResponse"]) {
      const step = objectOf(part[kind]);
      if (!step) continue;
      if (!isOffered || !isReported)
        refuse(`${kind} parts need google_search and include_server_side_tool_invocations.`);
      if (part["thoughtSignature"] !== signatureOf(argsText(step))) refuse("Corrupted thought signature.");
      if (kind === "toolCall") asked.add(stringOf(step["id"]));
      else if (!asked.delete(stringOf(step["id"])))
        refuse("A tool response needs the tool call with its id.");
    }
  if (asked.size > 0) refuse("A tool call needs the tool response with its id.");
  if (isReported) checkIds(contents);
}

/** A response names the call that it answers. */
function checkIds(contents: readonly Json[]): void {
  const idsOf = (content: Json | undefined, kind: string) =>
    listOf(content?.["parts"])
      .filter((part) => kind in part)
      .map((part) => stringOf(objectOf(part[kind])?.["id"]));
  for (const [at, content] of contents.entries()) {
    const calls = idsOf(contents[at - 1], "functionCall");
    for (const id of idsOf(content, "functionResponse"))
      if (id === "" || !calls.includes(id))
        refuse(`Function response with id '${id}' has no matching function call.`);
  }
}

function checkDeclarations(declared: readonly Json[]): void {
  for (const [at, { name }] of declared.entries())
    if (!NAME.test(stringOf(name)))
      refuse(
        `* GenerateContentRequest.tools[0].function_declarations[${at}].name: Invalid function name. Must start with a letter or an underscore. Must be alphanumeric (a-z, A-Z, 0-9), underscores (_), dots (.), colons (:), or dashes (-), with a maximum length of 64.`,
      );
  for (const [at, { name }] of declared.entries())
    if (declared.findIndex((one) => one["name"] === name) !== at)
      refuse(`Duplicate function declaration found: ${stringOf(name)}`);
}

function checkContent({ role, parts }: Json, at: number): void {
  const where = `* GenerateContentRequest.contents[${at}]`;
  if (role !== "user" && role !== "model") refuse("Please use a valid role: user, model.");
  if (listOf(parts).length === 0) refuse(`${where}.parts: contents.parts must not be empty.`);
  for (const [index, part] of listOf(parts).entries()) {
    const on = `${where}.parts[${index}]`;
    if (part["text"] === "" && part["thoughtSignature"] === undefined)
      refuse(
        "Unable to submit request because it has an empty text parameter. Add a value to the parameter and try again.",
      );
    for (const kind of ["functionCall", "functionResponse"]) {
      const call = objectOf(part[kind]);
      if (call && !NAME.test(stringOf(call["name"])))
        refuse(
          `${on}.${kind === "functionCall" ? "function_call" : "function_response"}.name: Invalid function name.`,
        );
    }
    const image = objectOf(part["inlineData"]);
    if (image && !IMAGES.test(stringOf(image["mimeType"])))
      refuse(`Unsupported MIME type: ${stringOf(image["mimeType"])}`);
    if (!DATA.some((kind) => kind in part))
      refuse(`${on}.data: required oneof field 'data' must have one initialized field`);
  }
}

const count = (content: Json | undefined, kind: string): number =>
  listOf(content?.["parts"]).filter((part) => kind in part).length;

function checkOrder(contents: readonly Json[]): void {
  for (const [at, content] of contents.entries()) {
    const before = contents[at - 1];
    if (count(content, "functionCall") > 0 && before?.["role"] !== "user")
      refuse(
        "Please ensure that function call turn comes immediately after a user turn or after a function response turn.",
      );
    const responses = count(content, "functionResponse");
    if (responses > 0 && count(before, "functionCall") === 0)
      refuse("Please ensure that function response turn comes immediately after a function call turn.");
    if (responses !== count(before, "functionCall"))
      refuse(
        "Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.",
      );
  }
  if (count(contents.at(-1), "functionCall") > 0)
    refuse(
      "Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.",
    );
}

/** The first call of each step since the person's last message carries its signature, unchanged. */
function checkSignatures(contents: readonly Json[]): void {
  const isAsked = (content: Json) => content["role"] === "user" && count(content, "functionResponse") === 0;
  const start = contents.findLastIndex(isAsked);
  for (const [at, content] of contents.entries()) {
    const calls = listOf(content["parts"]).filter((part) => "functionCall" in part);
    for (const [index, part] of calls.entries()) {
      const { name, args } = objectOf(part["functionCall"]) ?? {};
      const signature = part["thoughtSignature"];
      if (signature === undefined && index === 0 && at > start)
        refuse(
          `Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly, and missing thought_signature may lead to degraded model performance. Additional data, function call \`default_api:${stringOf(name)}\` , position ${at + 1}. Please refer to https://ai.google.dev/gemini-api/docs/thought-signatures for more details.`,
        );
      if (signature !== undefined && signature !== SKIPPED && signature !== signatureOf(argsText(args)))
        refuse("Corrupted thought signature.");
    }
  }
}

/** The part of a call that its signature covers. */
export const argsText = (args: unknown): string => JSON.stringify(args ?? {});
