import { once } from "node:events";
import { ToolError } from "@octant/core";
import { pathToUri } from "@octant/host";
import { serveZmq as serve, type ZmqServer } from "@octant/wire";
import { ENDING_SIGNALS, EXIT, type Io, UsageError } from "./command.ts";
import type { ServeFlags } from "./commands/serve.ts";
import { INSTRUCTIONS, LOCAL_CALLER, type Octant, type OwnTool } from "./octant.ts";
import { openOctant } from "./open-octant.ts";
import { loadVersion } from "./version.ts";
import { openKeys } from "./wire-keys.ts";
import { logLine } from "./workspace-flags.ts";

type ZmqFlags = ServeFlags & { readonly zmq: string };

/** Subscribers of broadcasts catch up with `event`. */
export const WIRE_TOOLS = { toolConfig: { enable: ["core", "wire"] } };

/** Serves other processes until it is asked to stop. */
export async function serveZmq(flags: ZmqFlags, io: Io): Promise<number> {
  await using octant = openOctant(flags, io, WIRE_TOOLS);
  const server = await startZmq(octant, flags, io);
  // Installed before the announcement: a reader of it may send a signal at once.
  const asked = ENDING_SIGNALS.map((signal) => once(process, signal));
  const { address, broadcast } = server;
  io.stdout.write(flags.json ? `${JSON.stringify({ address, broadcast })}\n` : nextSteps(server, flags));
  await Promise.race(asked);
  await server.close();
  return EXIT.OK;
}

/** Every authenticated client acts for the person who started the server. */
export async function startZmq(
  octant: Octant<OwnTool>,
  flags: Pick<ZmqFlags, "zmq" | "zmq-keys">,
  io: Io,
): Promise<ZmqServer> {
  const start = async () =>
    serve({
      ...octant,
      dispatch: octant.wireDispatch,
      address: flags.zmq,
      ...openKeys(flags["zmq-keys"]),
      caller: flags.zmq.startsWith("tcp:") ? { ...LOCAL_CALLER, remote: true } : LOCAL_CALLER,
      instructions: INSTRUCTIONS,
      jobs: octant.workspace.jobs,
      roots: octant.workspace.confinement.roots.map(pathToUri),
      name: "octant",
      version: loadVersion(),
      log: (line) => logLine(line, io),
    });
  return start().catch(explainRefusal);
}

function explainRefusal(cause: unknown): never {
  if (!(cause instanceof ToolError) || cause.code === "INTERNAL") throw cause;
  throw new UsageError(
    cause.message,
    "octant serve --zmq ipc://$XDG_RUNTIME_DIR/octant/socket is for your own processes",
  );
}

function nextSteps({ address, broadcast }: ZmqServer, flags: ZmqFlags): string {
  const keys = flags["zmq-keys"] === undefined ? "" : ` --keys ${flags["zmq-keys"]}`;
  return [
    `Octant serves this folder over ZeroMQ: ${address}`,
    `Broadcasts (job states, stream chunks): ${broadcast}`,
    "",
    `  octant call --via ${address}${keys} fs.read uri=README.md`,
    `  octant edge --via ${address}${keys}   serves it to MCP clients from another process`,
    "",
    "Ctrl-C ends it.",
    "",
  ].join("\n");
}
