import { ProtocolError, ProtocolErrorCode, type Server } from "@modelcontextprotocol/server";
import type { Service } from "../service.ts";
import type { Era } from "./capabilities.ts";
import { answerOrAsk } from "./sdk-asking.ts";
import { toProtocolError } from "./sdk-errors.ts";
import type { CompletionRequest, CompletionSource } from "./sources.ts";

/** The protocol takes no more. */
const MAX_VALUES = 100;

export function serveCompletions(server: Server, service: Service, source: CompletionSource, era: Era): void {
  const { caller, prompts, resources } = service;
  const toSubject = (ref: { type: string; name?: string; uri?: string }): CompletionRequest["of"] => {
    const { name = "", uri = "" } = ref;
    if (ref.type === "ref/prompt" && prompts?.list().some((one) => one.name === name))
      return { prompt: name };
    if (ref.type === "ref/resource" && resources?.templates.some((one) => one.uriTemplate === uri))
      return { template: uri };
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Nothing can be completed for ${name || uri}`);
  };
  server.setRequestHandler("completion/complete", async ({ params }, context) => {
    const { ref, argument, context: before } = params;
    const request: CompletionRequest = {
      of: toSubject(ref),
      argument: argument.name,
      value: argument.value,
      others: before?.arguments ?? {},
    };
    const subject = { server, service, era, context, subject: "completion/complete", args: {} };
    const all = await answerOrAsk(subject, ({ exchange }) =>
      source(request, { caller, signal: context.mcpReq.signal, exchange }).catch(toProtocolError),
    );
    const values = all.slice(0, MAX_VALUES);
    return { completion: { values, total: all.length, hasMore: values.length < all.length } };
  });
}
