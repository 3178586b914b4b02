import { ANSWERS, PROFILES } from "@octant/core";
import { defineCommand, UsageError } from "../command.ts";
import { viaFlags } from "../wire-flags.ts";

export const edge = defineCommand({
  name: "edge",
  summary: "Serve MCP clients on stdin and stdout with the tools of a server in another process",
  flags: {
    ...viaFlags,
    profile: { summary: "List tools, or each action by itself", value: "PROFILE", choices: PROFILES },
    answers: {
      summary: "Answers as structured content, or as text; by default as the client shows them",
      value: "HOW",
      choices: ANSWERS,
    },
  },
  notes: `The tools run where octant serve --zmq runs; this process only translates between MCP and typed calls.
Answers are the same as from octant serve there, and so are tasks, subscriptions and questions to the person.`,
  async run({ flags }, io) {
    const { via } = flags;
    if (via === undefined)
      throw new UsageError("octant edge needs --via ADDRESS", "octant serve --zmq ADDRESS starts a server");
    return (await import("../serve-edge.ts")).serveEdge({ ...flags, via }, io);
  },
});
