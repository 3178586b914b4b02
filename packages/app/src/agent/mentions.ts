import { expandMentions, type UserPart } from "@octant/agent";
import { createToText, ToolError } from "@octant/core";
import { z } from "zod";
import type { OpenedAgent } from "./open-agent.ts";

type Opened = Pick<OpenedAgent, "agent" | "host" | "servers">;

/** Rules and hooks judge it like a call of the model, which gets what is read. */
const callerOf = ({ agent }: Opened) => ({ id: agent.session.id, access: "read" }) as const;

/** A message with the files (`@src/a.ts`) and MCP resources (`@server:uri`) that it mentions. */
export const withMentions = (opened: Opened, message: string): Promise<readonly UserPart[]> =>
  expandMentions(
    message,
    async (mention) =>
      (await readResource(opened, mention)) ??
      (await readFile(opened, mention)) ??
      readSymbol(opened, mention),
  );

const Found = z.object({
  results: z.array(z.object({ uri: z.string(), name: z.string(), range: z.unknown() })),
});

/** `@src/a.ts#name`: the lines of a symbol. */
async function readSymbol(opened: Opened, mention: string): Promise<readonly UserPart[] | undefined> {
  const [, scope = "", name = ""] = /^(.+)#([^#]+)$/.exec(mention) ?? [];
  if (name === "") return undefined;
  const call = { tool: "code", action: "search_symbol", input: { query: name, scope } };
  const { envelope } = await opened.host.dispatch(call, { caller: callerOf(opened) });
  const found = Found.safeParse(envelope.data).data?.results.find((one) => one.name === name);
  return found && readFile(opened, found.uri, { range: found.range });
}

/** Reads a file as the agent itself would. */
async function readFile(
  opened: Opened,
  uri: string,
  part: { readonly range?: unknown } = {},
): Promise<readonly UserPart[] | undefined> {
  const { host } = opened;
  const toText = createToText(host.registry, host.roots);
  for (const action of ["read", "list"]) {
    const call = { tool: "fs", action, input: { uri, ...part } };
    const { envelope, attachments, text } = await host.dispatch(call, { caller: callerOf(opened) });
    if (!envelope.ok) continue;
    const images = attachments.flatMap(({ kind, mime, bytes }): UserPart[] =>
      kind === "image" ? [{ type: "image", mime, data: Buffer.from(bytes).toString("base64") }] : [],
    );
    return [{ type: "text", text: text ?? toText(envelope) }, ...images];
  }
  return undefined;
}

/** By naming the server and the resource the person consents. */
async function readResource({ servers }: Opened, mention: string): Promise<readonly UserPart[] | undefined> {
  const [, name = "", uri = ""] = /^([\w.-]+):(.+)$/.exec(mention) ?? [];
  if (!servers.status().some(({ server }) => server === name)) return undefined;
  try {
    return (await servers.read(name, uri, new AbortController().signal)).content;
  } catch (cause) {
    // For example, the end of a sentence was taken for a part of the URI.
    if (cause instanceof ToolError) return undefined;
    throw cause;
  }
}
