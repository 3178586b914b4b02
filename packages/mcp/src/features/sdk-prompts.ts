import { ProtocolError, ProtocolErrorCode, type Server } from "@modelcontextprotocol/server";
import type { Service } from "../service.ts";
import type { Era } from "./capabilities.ts";
import { answerOrAsk } from "./sdk-asking.ts";
import { toProtocolError } from "./sdk-errors.ts";
import type { Prompt, PromptSource } from "./sources.ts";

/** Returns what stops telling about changes. */
export function servePrompts(server: Server, service: Service, source: PromptSource, era: Era): () => void {
  server.setRequestHandler("prompts/list", (request) => {
    if (request.params?.cursor !== undefined)
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, "Invalid cursor: the list has one page");
    // The SDK's types ask for mutable copies of what it only serialises.
    return { prompts: source.list() as never };
  });
  server.setRequestHandler("prompts/get", (request, context) => {
    const { name, arguments: args = {} } = request.params;
    const prompt = source.list().find((one) => one.name === name);
    if (!prompt) throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Unknown prompt: ${name}`);
    checkArguments(prompt, args);
    const subject = { server, service, era, context, subject: `prompts/get ${name}`, args };
    return answerOrAsk(subject, async (ways) => {
      const ctx = { caller: service.caller, signal: context.mcpReq.signal, ...ways };
      return { ...(await source.get(name, args, ctx).catch(toProtocolError)) } as never;
    });
  });
  return (
    source.onChange?.(() => {
      server.sendPromptListChanged().catch((cause) => service.log(`list_changed not sent: ${cause}`));
    }) ?? (() => {})
  );
}

function checkArguments(
  { name, arguments: known = [] }: Prompt,
  args: Readonly<Record<string, string>>,
): void {
  const missing = known.filter((one) => one.required && !args[one.name]).map((one) => one.name);
  if (missing.length === 0) return;
  throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Prompt ${name} needs: ${missing.join(", ")}`);
}
