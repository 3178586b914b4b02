import { existsSync } from "node:fs";
import { LOCAL_CALLER, type Octant, type OwnTool, toWireService } from "@octant/app";
import { ToolError } from "@octant/core";
import { createKeys, loadKeys, serveZmq as serve, type ZmqServer } from "@octant/wire";
import { announce } from "./announce.ts";
import { type Io, UsageError } from "./command.ts";
import type { ServeFlags } from "./commands/serve.ts";
import { openOctant } from "./open-octant.ts";
import { WIRE_TOOLS } from "./serve-wire.ts";
import { logLine } from "./workspace-flags.ts";

type ZmqFlags = ServeFlags & { readonly zmq: string };

/** Serves other processes until it is asked to stop. */
export async function serveZmq(flags: ZmqFlags, io: Io): Promise<number> {
  await using octant = await openOctant(flags, io, { ...WIRE_TOOLS, command: "serve --zmq" });
  const server = await startZmq(octant, flags, io);
  const { address, broadcast } = server;
  return await announce(
    flags.json ? JSON.stringify({ address, broadcast }) : nextSteps(server, flags),
    server,
    io,
  );
}

/** Every authenticated client acts for the person who started the server. */
export async function startZmq(
  octant: Octant<OwnTool>,
  flags: Pick<ZmqFlags, "zmq" | "zmq-keys">,
  io: Io,
): Promise<ZmqServer> {
  const { zmq: address, "zmq-keys": file } = flags;
  try {
    return await serve({
      ...toWireService(octant, (line) => void logLine(line, io)),
      address,
      // CURVE encrypts too.
      ...(file !== undefined && { keys: existsSync(file) ? loadKeys(file) : createKeys(file, "curve") }),
      caller: address.startsWith("tcp:") ? { ...LOCAL_CALLER, remote: true } : LOCAL_CALLER,
    });
  } catch (cause) {
    if (!(cause instanceof ToolError) || cause.code === "INTERNAL") throw cause;
    throw new UsageError(
      cause.message,
      "octant serve --zmq ipc://$XDG_RUNTIME_DIR/octant/socket is for your own processes",
    );
  }
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
  ].join("\n");
}
