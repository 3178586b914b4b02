import { existsSync } from "node:fs";
import { ToolError } from "@octant/core";
import { createZmqClient, type ZmqClient, type ZmqClientOptions } from "@octant/wire";
import { UsageError } from "./command.ts";
import { loadKeysOf } from "./wire-keys.ts";

export interface RemoteFlags {
  readonly via: string;
  readonly keys: string | undefined;
}

/** Connects to a server of another process; one that does not answer is a UsageError. */
export async function openRemote(
  { via, keys }: RemoteFlags,
  options: Pick<ZmqClientOptions, "text" | "onReconnected"> = {},
): Promise<ZmqClient> {
  const [, socket] = /^ipc:\/\/(.*)$/.exec(via) ?? [];
  if (socket !== undefined && !existsSync(socket)) throw notThere(`there is no server at ${via}`);
  try {
    const client = createZmqClient({ ...options, address: via, ...loadKeysOf(keys) });
    // Asked first, so that one that does not answer is reported before anything else is tried.
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
