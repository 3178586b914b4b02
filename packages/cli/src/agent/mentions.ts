import { expandMentions, type UserPart } from "@octant/agent";
import { createToText } from "@octant/core";
import { pathToUri } from "@octant/host";
import type { OpenedAgent } from "./open-agent.ts";

/** Files that the prompt mentions are read as the agent itself would read them. */
export function withMentions(
  { octant }: Pick<OpenedAgent, "octant">,
  prompt: string,
): Promise<readonly UserPart[]> {
  const toText = createToText(octant.registry, octant.workspace.confinement.roots.map(pathToUri));
  const caller = { id: "agent-mentions", access: "read" } as const;
  return expandMentions(prompt, async (path) => {
    for (const action of ["read", "list"]) {
      const { envelope, attachments } = await octant.dispatch(
        { tool: "fs", action, input: { uri: path } },
        { caller },
      );
      if (!envelope.ok) continue;
      const images = attachments.flatMap(({ kind, mime, bytes }): UserPart[] =>
        kind === "image" ? [{ type: "image", mime, data: Buffer.from(bytes).toString("base64") }] : [],
      );
      return [{ type: "text", text: toText(envelope) }, ...images];
    }
    return undefined;
  });
}
