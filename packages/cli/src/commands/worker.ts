import { defineCommand, UsageError } from "../command.ts";
import { permissionFlags, workspaceFlags } from "../workspace-flags.ts";

export const worker = defineCommand({
  name: "worker",
  summary: "Run calls and jobs for edges on other machines, through a NATS server",
  flags: {
    nats: { summary: "The NATS server, with JetStream", value: "URL", env: "OCTANT_NATS" },
    ...workspaceFlags,
    ...permissionFlags,
    json: { summary: "Print the project as one line of JSON" },
  },
  notes: `Workers of one folder on several machines share its calls and jobs. A worker that dies gives its jobs back.
octant serve --http --nats URL is the other end: MCP clients connect to it.`,
  async run({ flags }, io) {
    const { nats } = flags;
    if (nats === undefined)
      throw new UsageError("octant worker needs --nats URL", "octant worker --nats nats://127.0.0.1:4222");
    return (await import("../serve-wire.ts")).runWorker({ ...flags, nats }, io);
  },
});
