import { once } from "node:events";
import { existsSync, realpathSync } from "node:fs";
import { findConsole } from "@octant/app";
import { ToolError } from "@octant/core";
import { createHttpServer } from "@octant/http";
import { defineCommand, ENDING_SIGNALS, EXIT, type Io, print, toPort } from "../command.ts";
import { openOctant } from "../open-octant.ts";
import { note, printJsonText } from "../output.ts";
import { asTyped } from "../person-command.ts";
import { logLine, rootsOf, workspaceFlags } from "../workspace-flags.ts";

export const console = defineCommand({
  name: "console",
  summary: "See and steer every agent of yours in a browser",
  flags: {
    root: workspaceFlags.root,
    port: { summary: "The port on 127.0.0.1; a free one by default", value: "PORT" },
    "no-open": { summary: "Print the link, and do not open a browser" },
    hub: { summary: "Open the console of the hub that runs on this machine" },
    json: { summary: "Print the link as one line of JSON" },
  },
  notes: `Shows all Octant processes of this user: servers that clients started, agents in terminals and editors. The link opens
one page, once, within ten minutes; a console that runs already prints another one. octant serve --http has the same
page at /console. A hub has a console of its own, which shows the hub alone. docs/console.md describes it.
  octant console
  octant console --no-open --port 7400`,
  async run({ flags }, io) {
    const roots = rootsOf(flags, io).map((root) => (existsSync(root) ? realpathSync(root) : root));
    const running = await findConsole(io.env, { roots, ofHub: flags.hub });
    if (running === undefined && flags.hub)
      throw new ToolError("NOT_FOUND", "no hub runs on this machine; octant hub starts one", { id: "hub" });
    if (running !== undefined) {
      await show(running.url, flags, io);
      const [folder = "no folder"] = running.roots;
      if (!flags.hub && !roots.every((root) => running.roots.includes(root)))
        note(
          `octant: this page is of the process ${running.pid}, which works in ${folder}; stop it to open one here`,
          io,
        );
      return EXIT.OK;
    }
    await using octant = await openOctant({ root: flags.root }, io, { command: "console" });
    const { state } = octant.workspace;
    const tokens = octant.tokens();
    const server = await createHttpServer({
      tokens,
      project: state.id,
      resourcePath: "/console",
      port: toPort(flags.port) ?? 0,
      log: (line) => logLine(line, io),
    });
    const { mountOwnConsole } = await import("../mount-console.ts");
    await server.listen();
    const link = await mountOwnConsole(server, octant, tokens, io);
    if (!link) throw new Error("the console's own process has a control socket");
    const ended = ENDING_SIGNALS.map((signal) => once(process, signal));
    await show(link(), flags, io);
    note(asTyped("octant: Ctrl-C stops it; octant console prints another link meanwhile", io), io);
    await Promise.race([...ended, server.closed]);
    await server.close();
    return EXIT.OK;
  },
});

const OPEN_MS = 5_000;

async function show(
  url: string,
  flags: { readonly json: boolean; readonly "no-open": boolean },
  io: Io,
): Promise<void> {
  if (flags.json) printJsonText(JSON.stringify({ url }), io);
  else print(url, io);
  if (flags.json || flags["no-open"] || !io.stdout.isTTY) return;
  const { openInBrowser } = await import("@octant/host");
  // The link is on the screen, so a machine without a browser is not a failure.
  await openInBrowser(new URL(url), io.env, AbortSignal.timeout(OPEN_MS)).catch((cause: unknown) => {
    if (!(cause instanceof ToolError)) throw cause;
    note(`octant: ${cause.message}`, io);
  });
}
