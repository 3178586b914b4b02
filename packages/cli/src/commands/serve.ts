import { PROFILES } from "@octant/mcp";
import { defineCommand, EXIT } from "../command.ts";
import { logLine, openOctant, permissionFlags, workspaceFlags } from "../workspace-flags.ts";

/** What was asked to end is gone within a second. */
const MAX_CLOSING_MS = 700;

export const serve = defineCommand({
  name: "serve",
  summary: "Serve the tools to an MCP client on stdin and stdout",
  flags: {
    ...workspaceFlags,
    ...permissionFlags,
    profile: {
      summary: "List tools, or each action by itself",
      value: "PROFILE",
      choices: PROFILES,
      env: "OCTANT_PROFILE",
    },
  },
  notes: "Ends when stdin ends, and at SIGTERM, SIGINT or SIGHUP. The log is on stderr.",
  async run({ flags }, io) {
    keepStdoutClean();
    process.on("uncaughtException", (cause) => {
      logLine(`ends after an uncaught error: ${cause instanceof Error ? cause.stack : cause}`, io);
      process.exit(EXIT.FAILED);
    });
    await using octant = openOctant(flags, io);
    const server = octant.serveStdio({ profile: flags.profile, input: io.stdin, output: io.stdout });
    // Work that does not heed its cancellation must not keep the process.
    const endSoon = () => setTimeout(() => process.exit(EXIT.OK), MAX_CLOSING_MS).unref();
    io.stdin.once("end", endSoon);
    for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) {
      process.once(signal, () => {
        endSoon();
        server.close();
      });
    }
    await server.closed;
    // The jobs are cancelled first, so that none of them sees its process killed and takes that for its result.
    const closed = octant.close();
    await octant.workspace.processes.leave();
    await closed;
    return EXIT.OK;
  },
});

/** stdout is the protocol's; a stray console.log in some package must not break it. */
function keepStdoutClean(): void {
  console.log = console.error;
  console.info = console.error;
  console.debug = console.error;
}
