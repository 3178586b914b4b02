import { type Ask, createToText, ToolError } from "@octant/core";
import { z } from "zod";
import { LOCAL_CALLER } from "../edges.ts";
import { asBlock, type SlashContext, type SlashOutcome } from "../slash/slash-command.ts";

/** After this it continues in the background. */
const WAIT_MS = 110_000;
const MAX_SHOWN_LINES = 40;

/**
 * Runs a line such as "!git status": a command of the person, which needs no approval. It runs in the sandbox like those
 * of the agent, deny rules hold, hooks do not run, and undo covers it. The model reads the command and its output with the next message.
 */
export async function runShellLine(
  line: string,
  { opened, signal, onProgress }: SlashContext,
): Promise<SlashOutcome> {
  const { host, agent } = opened;
  const command = line.replace(/^!\s*/, "");
  const reply = await host.dispatch(
    { tool: "proc", action: "exec", input: { command, wait: WAIT_MS } },
    {
      caller: { ...LOCAL_CALLER, id: agent.session.id, isPerson: true },
      signal,
      ask: typedThemselves,
      onProgress: ({ message = "" }) => onProgress?.(message),
    },
  );
  const { envelope } = reply;
  signal.throwIfAborted();
  if (!envelope.ok) throw new ToolError(envelope.error.code, envelope.error.message, envelope.error.details);
  const text = reply.text ?? createToText(host.registry, host.roots)(envelope);
  await agent.note(`The person ran this command themselves:\n$ ${command}\n\n${text}`);
  const running = Running.safeParse(envelope.data).data;
  const forPerson = running ? [running.stdout, running.stderr, STILL_RUNS].filter(Boolean).join("\n") : text;
  const lines = forPerson.trimEnd().split("\n");
  const left = lines.length - MAX_SHOWN_LINES;
  const shown = left > 0 ? [`… ${left} lines above; the model has them`, ...lines.slice(left)] : lines;
  return { text: asBlock(shown.join("\n")) };
}

const Running = z.object({ status: z.literal("running"), stdout: z.string(), stderr: z.string() });
const STILL_RUNS = "[it still runs; /jobs lists it, and /jobs stop ID ends it]";

const typedThemselves: Ask = async ({ kind }) => (kind === "permission" ? { answer: "once" } : undefined);
