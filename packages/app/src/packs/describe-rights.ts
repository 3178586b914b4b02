import type { PackRights } from "@octant/core";
import type { FoundPack } from "./read-pack.ts";

const FILES: Readonly<Record<PackRights["files"], string>> = {
  none: "see no files of the workspace",
  read: "read the files of the workspace",
  write: "read and change the files of the workspace",
};

/** The rights of a pack in one sentence, after "may". */
export function describeRights({ rights, uses }: Pick<FoundPack, "rights" | "uses">): string {
  const { files, reads, network, processes, credentials } = rights;
  return [
    FILES[files],
    ...(reads.length > 0 ? [`read ${ofSettings("file", reads)}`] : []),
    network === "none" ? "reach no network" : `reach ${toHosts(network)}`,
    processes ? "start programs" : "start no programs",
    ...(credentials.length > 0 ? [`act with your sign-in to ${credentials.join(", ")}`] : []),
    ...(uses.length > 0 ? [`call the tools ${uses.join(", ")}`] : []),
  ].join("; ");
}

const isSetting = (word: string): boolean => word.startsWith("$");

function toHosts(network: readonly string[]): string {
  const settings = network.filter(isSetting);
  const hosts = network.filter((word) => !isSetting(word));
  return [...hosts, ...(settings.length > 0 ? [ofSettings("host", settings)] : [])].join(", ");
}

/** "the hosts of your settings orpheus, yue". */
function ofSettings(what: string, settings: readonly string[]): string {
  const plural = settings.length === 1 ? "" : "s";
  return `the ${what}${plural} of your setting${plural} ${settings.map((word) => word.slice(1)).join(", ")}`;
}
