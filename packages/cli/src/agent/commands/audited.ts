import { action, createRegistry, defineTool } from "@octant/core";
import { z } from "zod";
import { LOCAL_CALLER } from "../../octant.ts";
import type { SlashCommand, SlashContext, SlashOutcome } from "./slash-command.ts";

/** Commands appear in the audit log under this name: `command.commit`. */
const TOOL = "command";

/** Runs a command that the person typed. The audit log records it before it starts, and its outcome. */
export async function runAudited(
  { name, summary, run }: SlashCommand,
  argument: string,
  context: SlashContext,
): Promise<SlashOutcome | undefined> {
  let outcome: SlashOutcome | undefined;
  let failure: { readonly cause: unknown } | undefined;
  const tool = defineTool({
    name: TOOL,
    summary: "Commands of the person.",
    actions: {
      // MCP prompt names may contain characters that are invalid in action names.
      [name.replaceAll(/[^a-z0-9_]/gi, "_")]: action({
        summary,
        access: "write",
        timing: "sync",
        intent: "inspect",
        input: z.strictObject({ argument: z.string() }),
        output: z.object({}),
        examples: [{ title: name, input: { argument: "" } }],
        async run() {
          try {
            outcome = await run(argument, context);
          } catch (cause) {
            failure = { cause };
            throw cause;
          }
          return {};
        },
      }),
    },
  });
  const { octant, agent } = context.opened;
  const [act = ""] = Object.keys(tool.actions);
  const { envelope } = await octant.dispatchAsPerson(createRegistry([tool]))(
    { tool: TOOL, action: act, input: { argument } },
    { caller: { ...LOCAL_CALLER, id: agent.session.id }, signal: context.signal },
  );
  if (failure) throw failure.cause;
  if (!envelope.ok) throw new Error(envelope.error.message);
  return outcome;
}
