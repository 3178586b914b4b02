import { createPlacesClient, type NatsAddress } from "@octant/wire";
import type { Repositories } from "../workspaces/repositories.ts";
import { createHostedContainers, type HostedContainersOptions } from "./hosted-containers.ts";
import { createWorkspaceCopies } from "./workspace-copies.ts";

export interface HostedOptions extends Omit<HostedContainersOptions, "client" | "copies"> {
  readonly repositories: Repositories;
  /** For bundles on their way. */
  readonly folder: string;
}

/** The containers and workspaces of a hub whose hosts pull work from a NATS server. */
export async function openHosted(nats: NatsAddress, { repositories, folder, ...options }: HostedOptions) {
  const client = await createPlacesClient(nats);
  const copies = createWorkspaceCopies({ repositories, folder });
  const hosted = createHostedContainers({ ...options, client, copies });
  return { ...hosted, engine: hosted.containers.engine };
}
