import { defineCommand, UsageError } from "../command.ts";
import { natsFlags } from "../nats-flags.ts";
import { permissionFlags, workspaceFlags } from "../workspace-flags.ts";

export const worker = defineCommand({
  name: "worker",
  summary: "Run calls and jobs for edges on other machines, through a NATS server",
  flags: {
    nats: { summary: "The NATS server, with JetStream", value: "URL", env: "OCTANT_NATS" },
    ...natsFlags,
    project: { summary: "The project's id; default: one made from the folder's path", value: "ID" },
    ...workspaceFlags,
    ...permissionFlags,
    json: { summary: "Print the project as one line of JSON" },
  },
  notes: `One worker at a time has a project, because its files, processes and undo are on its machine. Others with the same
--project stand by and take over when it ends or dies; its queued jobs then run there. A job that was running and may
have changed something fails with INTERRUPTED.
octant serve --http --nats URL is the other end: MCP clients connect to it.`,
  async run({ flags }, io) {
    const { nats } = flags;
    if (nats === undefined)
      throw new UsageError("octant worker needs --nats URL", "octant worker --nats nats://127.0.0.1:4222");
    return (await import("../run-worker.ts")).runWorker({ ...flags, nats }, io);
  },
});
