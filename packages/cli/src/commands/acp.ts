import { hostFlags, modelFlags, openHost, toModelOptions } from "../agent/agent-flags.ts";
import { defineCommand, ENDING_SIGNALS, EXIT } from "../command.ts";
import { toWorkspaceOptions } from "../open-octant.ts";
import { logLine, workspaceFlags } from "../workspace-flags.ts";

const { root: _root, ...flags } = workspaceFlags;

export const acp = defineCommand({
  name: "acp",
  summary: "Run the agent for an editor, over the Agent Client Protocol on stdin and stdout",
  flags: {
    ...flags,
    ...modelFlags,
    ...hostFlags,
    "draft-v2": {
      summary: "Offer the draft of version 2 of the protocol to editors that ask for it; it may still change",
    },
    "editor-terminals": {
      summary: "Offer the editor's terminal as a tool; what runs there is outside the sandbox",
    },
  },
  notes: `Editors start it: octant setup --acp prints what to put into the settings of Zed, JetBrains IDEs and
Neovim. The editor chooses the folder, shows tool calls and diffs, and asks the person for approvals. Files that
are unsaved in the editor are read as the person sees them. The log is on stderr.`,
  async run({ flags }, io) {
    // stdout carries the protocol; a stray console.log in some package must not break it.
    console.log = console.error;
    if (io.stdin.isTTY)
      logLine("waiting for an editor to speak ACP on stdin; octant setup --acp shows how", io);
    const [{ lineStream, serveAcp }, { createAcpHost }] = await Promise.all([
      import("@octant/acp"),
      import("@octant/app"),
    ]);
    const host = createAcpHost({
      ...toWorkspaceOptions(flags, io),
      ...toModelOptions(flags),
      cwd: io.cwd(),
      host: () => openHost(flags, io),
    });
    const server = serveAcp({
      host,
      stream: lineStream(io.stdin, io.stdout),
      editorTerminals: flags["editor-terminals"],
      draftV2: flags["draft-v2"],
    });
    for (const signal of ENDING_SIGNALS) process.once(signal, server.close);
    await server.closed;
    io.stdin.destroy();
    return EXIT.OK;
  },
});
