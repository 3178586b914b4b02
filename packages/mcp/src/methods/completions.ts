import type { McpRequest } from "../connection.ts";
import { invalidParams, type Plain, stringOf, toPlain } from "../messages.ts";
import type { CompletionRequest, CompletionSource } from "../sources.ts";
import { toProtocolError } from "./params.ts";
import { contextOf, stringsOf } from "./prompts.ts";

/** The limit of the protocol. */
const MAX_VALUES = 100;

export async function complete(request: McpRequest): Promise<Plain> {
  const { params, service } = request;
  const argument = toPlain(params["argument"]);
  const wanted: CompletionRequest = {
    of: subjectOf(request),
    argument: stringOf(argument, "name"),
    value: stringOf(argument, "value"),
    others: stringsOf(toPlain(params["context"])["arguments"]),
  };
  // This method exists only where there are completions.
  const source = service.completions as CompletionSource;
  const all = await source(wanted, contextOf(request)).catch(toProtocolError);
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
