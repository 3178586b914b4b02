import { createRemoteTools, type RemoteTools, type ServerReady } from "@octant/wire";

interface Server {
  ready(options: { readonly declarations: true }): Promise<ServerReady>;
}

export interface FollowedServer extends RemoteTools {
  readonly ready: ServerReady;
}

/** The tools of a server in another process, listed again at each change that `follow` reports. */
export async function followServer(
  server: Server,
  /** Resolves once it follows the tools, so that no change is missed. */
  follow: (onChange: () => void) => Promise<unknown>,
  log: (line: string) => void,
): Promise<FollowedServer> {
  let tools: RemoteTools | undefined;
  const refresh = () =>
    server.ready({ declarations: true }).then(
      ({ declarations = [] }) => tools?.update(declarations),
      (cause) => log(`the tool list stays as it was: ${cause}`),
    );
  await follow(refresh);
  const ready = await server.ready({ declarations: true });
  tools = createRemoteTools(ready.declarations ?? []);
  return { ...tools, ready };
}
