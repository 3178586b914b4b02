import { existsSync } from "node:fs";
import { ToolError } from "@octant/core";
import { createZmqClient, loadKeys, type WireClient, type ZmqClientOptions } from "@octant/wire";
import { UsageError } from "./command.ts";

export interface RemoteFlags {
  readonly via: string;
  readonly keys: string | undefined;
}

const EXEC = "exec:";

/** Connects to the server of another process; a UsageError when it does not respond. */
export async function openRemote(
  { via, keys }: RemoteFlags,
  env: NodeJS.ProcessEnv,
  options: Pick<ZmqClientOptions, "text"> = {},
): Promise<WireClient> {
  const [, socket] = /^ipc:\/\/(.*)$/.exec(via) ?? [];
  if (socket !== undefined && !existsSync(socket)) throw notThere(`there is no server at ${via}`);
  try {
    const client = via.startsWith(EXEC)
      ? await (await import("@octant/app")).connectToCommand(via.slice(EXEC.length), { ...options, env })
      : createZmqClient({ ...options, address: via, ...(keys !== undefined && { keys: loadKeys(keys) }) });
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

const notThere = (message: string) =>
  new UsageError(
    message,
    "octant serve --zmq ADDRESS starts one; --host 'exec:COMMAND' starts octant serve --wire itself",
  );
