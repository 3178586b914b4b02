import { LOCAL_CALLER, toLocalTarget } from "@octant/app";
import { JOB_STATES } from "@octant/core";
import { defineCommand, EXIT, onSignals, printJson, toCount, UsageError } from "../command.ts";
import { openOctant } from "../open-octant.ts";
import { showEnvelope } from "../show-answer.ts";
import { workspaceFlags } from "../workspace-flags.ts";

const VERBS = ["list", "show", "cancel"] as const;
const DEFAULT_LIMIT = 50;

export const jobs = defineCommand({
  name: "jobs",
  summary: "List, show and cancel background jobs",
  arguments: [
    { name: VERBS.join("|"), kind: VERBS, optional: true },
    { name: "ID", optional: true },
  ],
  flags: {
    root: workspaceFlags.root,
    state: { summary: "List only jobs in this state", value: "STATE", choices: JOB_STATES },
    limit: { summary: `List at most this many; ${DEFAULT_LIMIT} by default`, value: "N" },
    json: { summary: "Print as JSON" },
  },
  notes: `The jobs in this folder, newest first: those of every client, and of the agent's sessions.
  octant jobs                      what there is
  octant jobs --state failed       what went wrong
  octant jobs show ID              one of them, with its result
  octant jobs cancel ID            end it with its processes`,
  async run({ args: [verb = "list", job_id], flags }, io) {
    const limit = toCount("limit", flags.limit) ?? DEFAULT_LIMIT;
    if (verb !== "list" && job_id === undefined)
      throw new UsageError(`octant jobs ${verb} needs an ID`, "octant jobs lists them");
    await using target = toLocalTarget(await openOctant({ root: flags.root }, io), {
      ...LOCAL_CALLER,
      sees: "all",
    });
    const interrupt = new AbortController();
    using _signals = onSignals(["SIGINT"], () => interrupt.abort());
    const { envelope } = await target.call(
      verb === "list"
        ? { tool: "job", action: "list", input: { limit, ...(flags.state && { status: flags.state }) } }
        : { tool: "job", action: verb === "show" ? "status" : "cancel", input: { job_id } },
      { signal: interrupt.signal, onProgress: () => {}, onBinary: () => {} },
    );
    if (flags.json) printJson(envelope.ok ? envelope.data : envelope, io);
    else showEnvelope(envelope, target.describe, io);
    return envelope.ok ? EXIT.OK : EXIT.FAILED;
  },
});
