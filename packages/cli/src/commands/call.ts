import { readFileSync } from "node:fs";
import { type Envelope, type Jobs, ownAction, type Registry, toInputSchema } from "@octant/core";
import { pathToUri } from "@octant/host";
import { createTerminalPrompter, openTerminal } from "@octant/runtime";
import { parseCallArguments, parseName } from "../call-arguments.ts";
import { defineCommand, EXIT, UsageError } from "../command.ts";
import { LOCAL_CALLER } from "../octant.ts";
import { openOctant } from "../open-octant.ts";
import { clearProgress, showAttachments, showEnvelope, showProgress } from "../show-answer.ts";
import { permissionFlags, workspaceFlags } from "../workspace-flags.ts";

const STDIN = "-";
const LONGEST_TIMER_MS = 2 ** 31 - 1;

export const call = defineCommand({
  name: "call",
  summary: "Call one action of a tool",
  arguments: [
    { name: "TOOL.ACTION", kind: "action" },
    { name: "KEY=VALUE", many: true },
  ],
  flags: {
    ...workspaceFlags,
    ...permissionFlags,
    json: { summary: "Print the whole envelope as JSON" },
    output: { summary: "Save the picture or sound that comes with the answer", value: "FILE" },
  },
  notes: `Arguments: key=value, read as the action's parameter wants it (numbers, true, JSON for lists and
objects; a list also as the same key again), key=@file for the text of a file, key=@- for stdin,
key=@@… for a value that begins with @; or all of it as one JSON object. For example:
  octant call fs.read uri=README.md
  octant call fs.list '{"uri": ".", "depth": 2}'
Text in the answer goes to stdout as it is, and what is known about it to stderr.`,
  async run({ args: [called = "", ...words], flags }, io) {
    using terminal = flags.permissions === "enforce" ? openTerminal() : undefined;
    await using octant = openOctant(flags, io, terminal && { prompter: createTerminalPrompter(terminal) });
    const { tool, action = "" } = parseName(called);
    const input = parseCallArguments(words, inputSchemaOf(octant.registry, tool, action), readText);
    const interrupt = new AbortController();
    process.once("SIGINT", () => interrupt.abort());
    const { envelope: answer, attachments } = await octant.dispatch(
      { tool, action, input },
      { caller: LOCAL_CALLER, signal: interrupt.signal, onProgress: (update) => showProgress(update, io) },
    );
    const envelope = await outcomeOf(answer, octant.workspace.jobs, interrupt.signal);
    clearProgress(io);
    if (flags.json) io.stdout.write(`${JSON.stringify(envelope, null, 2)}\n`);
    else showEnvelope(envelope, pathToUri(octant.workspace.confinement.roots[0] ?? ""), io);
    showAttachments(attachments, flags.output, io);
    if (envelope.ok) return EXIT.OK;
    return interrupt.signal.aborted ? EXIT.INTERRUPTED : EXIT.FAILED;
  },
});

/** Nobody could ask this process for the result later, so a job is waited for. */
async function outcomeOf(answer: Envelope, jobs: Jobs, signal: AbortSignal): Promise<Envelope> {
  const { job_id } = answer.meta;
  if (job_id === undefined) return answer;
  await jobs.ended(LOCAL_CALLER.id, job_id, LONGEST_TIMER_MS, signal);
  return (await jobs.result(LOCAL_CALLER.id, job_id)) ?? answer;
}

/** Nothing is known about what does not exist; the dispatcher will say so. */
function inputSchemaOf(registry: Registry, tool: string, action: string) {
  const found = registry.get(tool);
  const act = found && ownAction(found, action);
  return act ? toInputSchema(act) : {};
}

function readText(source: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(
      readFileSync(source === STDIN ? process.stdin.fd : source),
    );
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new UsageError(`@${source} cannot be read: ${reason}`, "it has to be a text file in UTF-8");
  }
}
