import type { PackRights } from "@octant/core";
import type { FoundPack } from "./read-pack.ts";

const FILES: Readonly<Record<PackRights["files"], string>> = {
  none: "see no files of the workspace",
  read: "read the files of the workspace",
  write: "read and change the files of the workspace",
};

/** The rights of a pack in one sentence, after "may". */
export function describeRights({ rights, uses }: Pick<FoundPack, "rights" | "uses">): string {
  const { files, network, processes, credentials } = rights;
  return [
    FILES[files],
    network === "none" ? "reach no network" : `reach ${network.map(toHost).join(", ")}`,
    processes ? "start programs" : "start no programs",
    ...(credentials.length > 0 ? [`act with your sign-in to ${credentials.join(", ")}`] : []),
    ...(uses.length > 0 ? [`call ${uses.join(", ")}`] : []),
  ].join("; ");
}

const toHost = (host: string): string =>
  host.startsWith("$") ? `the host of your setting ${host.slice(1)}` : host;
