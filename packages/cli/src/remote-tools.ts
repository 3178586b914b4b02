import { createRemoteTools, type RemoteTools, type ServerReady } from "@octant/wire";

interface Server {
  ready(options: { readonly declarations: true }): Promise<ServerReady>;
}

export interface FollowedServer extends RemoteTools {
  readonly ready: ServerReady;
  /** Lists the tools again and updates the registry. */
  refresh(): void;
}

/** Follows the tools of a server in another process, also across its restarts. */
export async function followServer(server: Server, log: (line: string) => void): Promise<FollowedServer> {
  const ready = await server.ready({ declarations: true });
  const tools = createRemoteTools(ready.declarations ?? []);
  return {
    ...tools,
    ready,
    refresh() {
      server.ready({ declarations: true }).then(
        ({ declarations = [] }) => tools.update(declarations),
        (cause) => log(`the tool list stays as it was: ${cause}`),
      );
    },
  };
}
