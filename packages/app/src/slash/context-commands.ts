import { contextTokens, estimateTokens, type Message, messageTokens, textOf } from "@octant/agent";
import { counted, invalidArgument, resolveAliases, ToolError, toOneLine } from "@octant/core";
import { hashOf } from "@octant/host";
import { copyInTmux } from "../agent/tmux-clipboard.ts";
import { findUntrusted, trustWaiting, type Waiting } from "../agent/untrusted.ts";
import type { Octant } from "../octant-api.ts";
import { asBlock, type SlashCommand, type SlashContext, type SlashOutcome } from "./slash-command.ts";

export const CONTEXT_COMMANDS: readonly SlashCommand[] = [
  {
    name: "context",
    isForRemote: true,
    summary: "Show what fills the model's context window",
    run: (_, context) => ({ text: describeContext(context) }),
  },
  {
    name: "copy",
    onlyInTerminal: true,
    argument: "[code|N]",
    summary: "Copy the last answer, its last code block, or its Nth one, as the model wrote it",
    complete: () => ["code"],
    run: copy,
  },
  {
    name: "trust",
    onlyWithLocalTools: true,
    argument: "[CODE]",
    summary: "Show what of this project waits for your trust, and trust it",
    run: trust,
  },
];

const MAX_ROWS = 12;

function describeContext({ opened: { agent, client, octant } }: SlashContext): string {
  const { conversation } = agent.session;
  if (!conversation.model)
    return `nothing was sent yet; the window of ${toOneLine(client.model.id)} has ${client.model.context_tokens || "an unknown number of"} tokens`;
  const parts = new Map<string, number>([
    ["system prompt and instructions", estimateTokens(conversation.system)],
    ["tool definitions", estimateTokens(JSON.stringify(conversation.tools))],
  ]);
  const add = (name: string, tokens: number) => parts.set(name, (parts.get(name) ?? 0) + tokens);
  for (const message of conversation.messages)
    for (const [name, tokens] of partsOf(message, octant.registry)) add(name, tokens);
  const estimated = [...parts.values()].reduce((sum, tokens) => sum + tokens, 0);
  const used = contextTokens(conversation);
  // The provider counts the sum; the shares are estimates.
  const scale = estimated > 0 ? used / estimated : 0;
  const { id, context_tokens: size } = conversation.model;
  const rows = [...parts]
    .map(([name, tokens]) => [name, Math.round(tokens * scale)] as const)
    .filter(([, tokens]) => tokens > 0)
    .sort(([, a], [, b]) => b - a);
  const share = (tokens: number) => (size > 0 ? ` (${((tokens / size) * 100).toFixed(1)} %)` : "");
  const shown = rows
    .slice(0, MAX_ROWS)
    .map(([name, tokens]) => `- ${name}: ${tokens} tokens${share(tokens)}`);
  const of = size > 0 ? ` of ${size}` : "";
  const free =
    size > 0 ? `\n- free: ${Math.max(size - used, 0)} tokens${share(Math.max(size - used, 0))}` : "";
  return `${used}${of} tokens of ${toOneLine(id)} are used${shown.length > 0 ? `:\n\n${shown.join("\n")}` : ""}${free}`;
}

function partsOf(message: Message, registry: Octant["registry"]): readonly (readonly [string, number])[] {
  // The conversation has the names that the model used.
  const toolOf = (name: string) => resolveAliases(registry, { tool: name, action: "", input: {} }).tool;
  if (message.role === "tool")
    return message.results.map((result) => [
      `results of ${toOneLine(toolOf(result.name))}`,
      messageTokens({ role: "tool", results: [result] }),
    ]);
  if (message.role === "assistant") return [["answers and calls of the model", messageTokens(message)]];
  const name = {
    person: "your messages",
    context: "notes and commands",
    summary: "summary of earlier turns",
  };
  return [[name[message.origin], messageTokens(message)]];
}

/** The text as the model wrote it: without the line breaks of the screen, and also after a compaction. */
async function copy(argument: string, { opened }: SlashContext): Promise<SlashOutcome> {
  const events = await Array.fromAsync(opened.sessions.events(opened.agent.session.id));
  const text = events.map((event) => (event.type === "message" ? textOf(event.message.content) : ""));
  const last = text.findLast((one) => one.trim() !== "");
  if (last === undefined) throw new ToolError("NOT_FOUND", "there is no answer to copy yet", {});
  if (argument === "") return copied(last.trim(), "the last answer", opened);
  const blocks = codeBlocks(last);
  const at = argument === "code" ? blocks.length : Number(argument);
  if (!Number.isInteger(at)) throw invalidArgument("", "/copy takes code, or the number of a code block");
  const block = blocks[at - 1];
  if (block === undefined)
    throw new ToolError("NOT_FOUND", `the last answer has ${counted(blocks.length, "code block")}`, {});
  return copied(block, `code block ${at}`, opened);
}

async function copied(
  copy: string,
  what: string,
  { env, octant }: SlashContext["opened"],
): Promise<SlashOutcome> {
  await copyInTmux(copy, env, octant.workspace.confinement.roots);
  return { copy, text: `copied ${what}: ${counted(copy.length, "character")}` };
}

function codeBlocks(markdown: string): readonly string[] {
  const fenced = /^( {0,3})(`{3,}|~{3,})[^\n]*\n([\s\S]*?)(?:^ {0,3}\2[`~]*[ \t]*$|(?![\s\S]))/gm;
  return [...markdown.matchAll(fenced)].map(([, , , code = ""]) => code.replace(/\n$/, ""));
}

/** The code in the line that trusts stands for exactly the content that was shown. */
async function trust(code: string, { opened, hasInput }: SlashContext): Promise<SlashOutcome> {
  const { octant, env } = opened;
  const waiting = await findUntrusted({ roots: octant.workspace.confinement.roots, env });
  if (waiting.count === 0) return { text: "nothing here waits for your trust" };
  const shown = hashOf(Buffer.from(JSON.stringify(waiting))).slice("sha256:".length, CODE_END);
  if (code !== "" && code !== shown)
    throw new ToolError("CONFLICT", "this is not what was shown last; /trust shows what waits now", {
      expected: shown,
      actual: code,
    });
  if (code === "")
    return {
      text: `${describeWaiting(waiting)}\n\n${hasInput ? "Enter" : `\`/trust ${shown}\``} lets all of this take effect.`,
      draft: `/trust ${shown}`,
    };
  await trustWaiting(waiting, { env });
  return { text: "trusted; it takes effect in the next session: `/clear` or `/fork` starts one" };
}

const CODE_END = "sha256:".length + 8;

const describeWaiting = ({ settings, instructions }: Waiting): string =>
  [
    ...settings.map(
      ({ file, parts }) =>
        `**${toOneLine(file)}**\n\n${asBlock(parts.map(({ key, line, shown }) => `line ${line}  ${toOneLine(key)}: ${toOneLine(shown)}`).join("\n"))}`,
    ),
    ...instructions.map(({ path, text }) => `**${toOneLine(path)}**\n\n${asBlock(text.trimEnd())}`),
  ].join("\n\n");
