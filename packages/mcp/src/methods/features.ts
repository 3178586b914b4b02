import type { McpRequest } from "../connection.ts";
import { invalidParams, isPlain, type Plain, type ProtocolError, stringOf, toPlain } from "../messages.ts";
import type {
  CompletionRequest,
  CompletionSource,
  FeatureContext,
  Prompt,
  PromptSource,
  ResourceSource,
} from "../sources.ts";
import { cursorOf, refuseCursor, toProtocolError } from "./params.ts";

export async function listResources(request: McpRequest): Promise<Plain> {
  // A client that never requested the list cannot have a stale one. The modern revision uses subscriptions.
  request.session?.watchResources();
  const page = await resourcesOf(request)
    .list(cursorOf(request.params), contextOf(request))
    .catch(toProtocolError);
  return { ...page };
}

export function listTemplates(request: McpRequest): Plain {
  refuseCursor(request.params);
  return { resourceTemplates: resourcesOf(request).templates };
}

export async function readResource(request: McpRequest): Promise<Plain> {
  const uri = stringOf(request.params, "uri");
  const contents = await resourcesOf(request).read(uri, contextOf(request)).catch(toProtocolError);
  if (!contents) throw notFound(uri);
  return { contents };
}

export async function subscribe({ params, session }: McpRequest): Promise<Plain> {
  const uri = stringOf(params, "uri");
  if (!(await session?.subscriptions.add(uri).catch(toProtocolError))) throw notFound(uri);
  return {};
}

export function unsubscribe({ params, session }: McpRequest): Plain {
  session?.subscriptions.remove(stringOf(params, "uri"));
  return {};
}

const notFound = (uri: string): ProtocolError => invalidParams(`Resource not found: ${uri}`, { uri });

export function listPrompts(request: McpRequest): Plain {
  refuseCursor(request.params);
  return { prompts: promptsOf(request).list() };
}

export async function getPrompt(request: McpRequest): Promise<Plain> {
  const source = promptsOf(request);
  const name = stringOf(request.params, "name");
  const prompt = source.list().find((one) => one.name === name);
  if (!prompt) throw invalidParams(`Unknown prompt: ${name}`);
  const args = stringsOf(request.params["arguments"]);
  checkArguments(prompt, args);
  return { ...(await source.get(name, args, contextOf(request)).catch(toProtocolError)) };
}

function stringsOf(value: unknown = {}): Readonly<Record<string, string>> {
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

/** The limit of the protocol. */
const MAX_VALUES = 100;

export async function complete(request: McpRequest): Promise<Plain> {
  const { params } = request;
  const argument = toPlain(params["argument"]);
  const wanted: CompletionRequest = {
    of: subjectOf(request),
    argument: stringOf(argument, "name"),
    value: stringOf(argument, "value"),
    others: stringsOf(toPlain(params["context"])["arguments"]),
  };
  const all = await completionsOf(request)(wanted, contextOf(request)).catch(toProtocolError);
  const values = all.slice(0, MAX_VALUES);
  return { completion: { values, total: all.length, hasMore: values.length < all.length } };
}

function subjectOf({ params, service: { prompts, resources } }: McpRequest): CompletionRequest["of"] {
  const { type, name, uri } = toPlain(params["ref"]);
  if (type === "ref/prompt" && prompts?.list().some((one) => one.name === name))
    return { prompt: String(name) };
  if (type === "ref/resource" && resources?.templates.some((one) => one.uriTemplate === uri))
    return { template: String(uri) };
  throw invalidParams(`Nothing can be completed for ${name ?? uri}`);
}

// Each of these methods exists only if its source does.
const resourcesOf = ({ service }: McpRequest): ResourceSource => service.resources as ResourceSource;
const promptsOf = ({ service }: McpRequest): PromptSource => service.prompts as PromptSource;
const completionsOf = ({ service }: McpRequest) => service.completions as CompletionSource;

/** The caller of a request, and how to ask it. */
const contextOf = (request: McpRequest): FeatureContext => ({
  caller: request.service.caller,
  signal: request.signal,
  ask: (question, signal) => request.client().ask(question, signal),
  get exchange() {
    return request.client().exchange;
  },
});
