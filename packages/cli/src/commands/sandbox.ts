import { openAcceptance } from "@octant/host";
import { defineCommand, EXIT, print, printJson } from "../command.ts";
import { openOctant } from "../open-octant.ts";
import { workspaceFlags } from "../workspace-flags.ts";

export const sandbox = defineCommand({
  name: "sandbox",
  summary: "Show what confines commands here, or accept that nothing does on this machine",
  arguments: [{ name: "accept|revoke", kind: ["accept", "revoke"], optional: true }],
  flags: { root: workspaceFlags.root, json: { summary: "Print as JSON" } },
  notes: `Where no sandbox works, the agent asks about each command, whatever rules allow.
  octant sandbox           show the level, and why stronger ones do not work
  octant sandbox accept    let rules and answers apply on this machine as if commands were confined
  octant sandbox revoke    take that back`,
  async run({ args: [verb], flags }, io) {
    await using octant = await openOctant({ root: flags.root, tools: "ws" }, io);
    const { sandbox: own, state } = octant.workspace;
    const acceptance = openAcceptance(state.base);
    if (verb === "revoke")
      return print(acceptance.revoke() ? "no longer accepted on this machine" : "nothing was accepted", io);
    const status = await own.status();
    const unconfined = await own.unconfined();
    if (verb === "accept") {
      if (!unconfined) return print(`nothing to accept: ${status.level} confines commands here`, io);
      acceptance.accept();
      return print(
        "accepted on this machine: commands run with all your rights; octant sandbox revoke ends it",
        io,
      );
    }
    const since = acceptance.since() ?? null;
    if (flags.json) return printJson({ ...status, accepted_since: since }, io);
    const failed = status.tried
      .filter(({ works }) => !works)
      .map(({ level, why }) => `  not ${level}: ${why}`);
    const lines = [`${status.level}: ${unconfined?.reason ?? status.detail}`, ...failed];
    if (status.unmet !== undefined) lines.push(status.unmet);
    if (since !== null) lines.push(`accepted on this machine since ${since}`);
    return print(lines.join("\n"), io, unconfined?.accepted === false ? EXIT.FAILED : EXIT.OK);
  },
});
