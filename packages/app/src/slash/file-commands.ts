import {
  type FrontMatter,
  type NamedMarkdown,
  parseFrontMatter,
  textField,
  withArguments,
} from "@octant/agent";
import { createToText, ToolError, toOneLine } from "@octant/core";
import { z } from "zod";
import type { OpenedAgent } from "../agent/open-agent.ts";
import { LOCAL_CALLER } from "../edges.ts";
import type { SlashCommand, SlashContext } from "./slash-command.ts";

/** The commands in Markdown files of the person, and of the project as far as it is trusted. */
export const fileCommands = ({ host }: Pick<OpenedAgent, "host">): readonly SlashCommand[] =>
  host.markdown("commands").map(toCommand);

/** Sends the text to the model, with what the person typed and with the output of the commands in it. */
function toCommand({ name, path, text }: NamedMarkdown): SlashCommand {
  const head = parseFrontMatter(text);
  const ignored = [...head.fields.keys()].filter((field) => !FIELDS.includes(field));
  const about = toOneLine(textField(head, "description") ?? path);
  return {
    name,
    argument: toOneLine(textField(head, "argument-hint") ?? "[TEXT]"),
    summary: ignored.length > 0 ? `${about} (ignored: ${toOneLine(ignored.join(", "))})` : about,
    run: async (argument, context) => ({ send: await expand(head, argument, context) }),
  };
}

/** `disable-model-invocation` changes nothing: only people run these commands. */
const FIELDS: readonly string[] = ["description", "argument-hint", "disable-model-invocation"];

const COMMAND = /!`([^`\n]+)`/g;

/**
 * Commands run before the typed text is inserted, so that it cannot become part of one; they find it in $ARGUMENTS.
 * Rules and the person decide about them as about those of the agent.
 */
async function expand({ body }: FrontMatter, typed: string, context: SlashContext): Promise<string> {
  const outputs: string[] = [];
  for (const [, command = ""] of body.matchAll(COMMAND))
    outputs.push(await runCommand(command, typed, context));
  const marked = body.replace(COMMAND, () => PLACE);
  return withArguments(marked, typed.replaceAll(PLACE, "")).replaceAll(PLACE, () => outputs.shift() ?? "");
}

/** Not a character of any text. */
const PLACE = "\uFFFE";

/** Output that needs no words about how the command ended. */
const Clean = z.object({
  exit_code: z.literal(0),
  stdout: z.string(),
  stderr: z.literal(""),
  truncated: z.literal(false),
});

async function runCommand(command: string, typed: string, { opened, signal }: SlashContext): Promise<string> {
  const { host, agent, ask } = opened;
  const call = { tool: "proc", action: "exec", input: { command, env: { ARGUMENTS: typed } } };
  const caller = { ...LOCAL_CALLER, id: agent.session.id };
  const { envelope, text } = await host.dispatch(call, { caller, signal, ask });
  if (!envelope.ok) throw new ToolError(envelope.error.code, envelope.error.message, envelope.error.details);
  const { data: clean } = Clean.safeParse(envelope.data);
  return clean?.stdout.trimEnd() ?? text ?? createToText(host.registry, [])(envelope);
}
