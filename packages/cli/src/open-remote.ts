import { existsSync } from "node:fs";
import { ToolError } from "@octant/core";
import { createZmqClient, loadKeys, type ZmqClient, type ZmqClientOptions } from "@octant/wire";
import { UsageError } from "./command.ts";

export interface RemoteFlags {
  readonly via: string;
  readonly keys: string | undefined;
}

/** Connects to the server of another process; a UsageError when it does not respond. */
export async function openRemote(
  { via, keys }: RemoteFlags,
  options: Pick<ZmqClientOptions, "text"> = {},
): Promise<ZmqClient> {
  const [, socket] = /^ipc:\/\/(.*)$/.exec(via) ?? [];
  if (socket !== undefined && !existsSync(socket)) throw notThere(`there is no server at ${via}`);
  try {
    const client = createZmqClient({
      ...options,
      address: via,
      ...(keys !== undefined && { keys: loadKeys(keys) }),
    });
    // Checked first, so that a server that does not respond is reported before anything else is tried.
    await client.ready().catch((cause) => {
      client.close();
      throw cause;
    });
    return client;
  } catch (cause) {
    throw cause instanceof ToolError ? notThere(cause.message) : cause;
  }
}

const notThere = (message: string) => new UsageError(message, "octant serve --zmq ADDRESS starts one");
