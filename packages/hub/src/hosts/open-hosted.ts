import { createPlacesClient, type NatsAddress } from "@octant/wire";
import type { Repositories } from "../workspaces/repositories.ts";
import { createHostedContainers, type HostedContainersOptions } from "./hosted-containers.ts";
import { createKeptRepositories } from "./kept-repositories.ts";
import { createWorkspaceCopies } from "./workspace-copies.ts";

export interface HostedOptions extends Omit<HostedContainersOptions, "client" | "copies"> {
  readonly repositories: Repositories;
  /** For bundles on their way. */
  readonly folder: string;
}

export type Hosted = Awaited<ReturnType<typeof openHosted>>;

/** The containers and workspaces of a hub whose hosts pull work from a NATS server. */
export async function openHosted(nats: NatsAddress, { repositories, folder, ...options }: HostedOptions) {
  const client = await createPlacesClient(nats);
  const copies = createWorkspaceCopies({ repositories, folder });
  const { containers, rebuild, ...hosted } = createHostedContainers({ ...options, client, copies });
  const { store, log } = options;
  // A hub alone has its records in the same folder.
  const kept = store.peers
    ? createKeptRepositories({
        ...{ store, repositories, folder, log },
        objects: await client.openKeptObjects(),
      })
    : undefined;
  return { ...hosted, containers, kept, engine: containers.engine, images: { rebuild } };
}
