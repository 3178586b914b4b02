import type { McpRequest } from "../connection.ts";
import { invalidParams, isPlain, type Plain, stringOf } from "../messages.ts";
import type { FeatureContext, Prompt, PromptSource } from "../sources.ts";
import { refuseCursor, toProtocolError } from "./params.ts";

export function listPrompts(request: McpRequest): Plain {
  refuseCursor(request.params);
  return { prompts: sourceOf(request).list() };
}

export async function getPrompt(request: McpRequest): Promise<Plain> {
  const source = sourceOf(request);
  const name = stringOf(request.params, "name");
  const prompt = source.list().find((one) => one.name === name);
  if (!prompt) throw invalidParams(`Unknown prompt: ${name}`);
  const args = stringsOf(request.params["arguments"]);
  checkArguments(prompt, args);
  return { ...(await source.get(name, args, contextOf(request)).catch(toProtocolError)) };
}

/** The caller of a request, and how to ask it. */
export const contextOf = (request: McpRequest): FeatureContext => ({
  caller: request.service.caller,
  signal: request.signal,
  ask: (question, signal) => request.client.ask(question, signal),
  get exchange() {
    return request.client.exchange;
  },
});

export function stringsOf(value: unknown = {}): Readonly<Record<string, string>> {
  if (!isPlain(value) || !Object.values(value).every((one) => typeof one === "string"))
    throw invalidParams("Invalid params: arguments must be an object of strings");
  // Every value was checked.
  return value as Readonly<Record<string, string>>;
}

function checkArguments(
  { name, arguments: known = [] }: Prompt,
  args: Readonly<Record<string, string>>,
): void {
  const missing = known.filter((one) => one.required && !args[one.name]).map((one) => one.name);
  if (missing.length > 0) throw invalidParams(`Prompt ${name} needs: ${missing.join(", ")}`);
}

/** These methods exist only where there are prompts. */
const sourceOf = ({ service }: McpRequest): PromptSource => service.prompts as PromptSource;
