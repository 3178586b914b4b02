import { readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { attempt } from "@octant/core";

/** The kernel's names of the controllers for memory, process count and processor time. */
export type Controller = "memory" | "pids" | "cpu" | "cpuacct";

/** A tree of control groups that this process is in. */
export interface Hierarchy {
  readonly version: 1 | 2;
  readonly controllers: readonly Controller[];
  /** The folder of the group that this process is in. */
  readonly own: string;
  /** The folder where limiting groups can be created. */
  readonly parent: string;
}

/** The controllers that limit commands. */
const FOR_COMMANDS: readonly Controller[] = ["memory", "pids"];

/** A file of the system's; empty when there is none. */
type Read = (path: string) => string;
const readFile: Read = (path) => attempt(() => readFileSync(path, "utf8")) ?? "";

/** The hierarchies of this process that have one of the controllers; none where the system has or shows no control groups. */
export function findHierarchies(
  read: Read = readFile,
  wanted: readonly Controller[] = FOR_COMMANDS,
): Hierarchy[] {
  const groups = read("/proc/self/cgroup");
  const mounts = parseMounts(read("/proc/self/mountinfo"));
  return groups.split("\n").flatMap((line) => {
    const [, number, names = "", path = ""] = /^(\d+):([^:]*):(.*)$/.exec(line) ?? [];
    if (number === undefined) return [];
    const mount = mounts.find(({ version, options }) =>
      number === "0" ? version === 2 : version === 1 && names.split(",").every((name) => options.has(name)),
    );
    if (!mount) return [];
    const own = folderOf(path, mount);
    return number === "0" ? unified(own, mount.point, read, wanted) : separate(own, names.split(","), wanted);
  });
}

/** Version 1: any group can have groups below it. */
function separate(own: string, names: readonly string[], wanted: readonly Controller[]): Hierarchy[] {
  const controllers = wanted.filter((name) => names.includes(name));
  return controllers.length > 0 ? [{ version: 1, controllers, own, parent: own }] : [];
}

/**
 * Version 2: a group with processes cannot limit groups below it, except the root. So ours is a sibling of our own
 * group, unless that one has limits, which must not be escaped.
 */
function unified(own: string, root: string, read: Read, wanted: readonly Controller[]): Hierarchy[] {
  const beside = own !== root && isUnlimited(own, read) ? [dirname(own)] : [];
  for (const parent of [own, ...beside]) {
    const passedOn = read(join(parent, "cgroup.subtree_control")).trim().split(" ");
    const controllers = wanted.filter((name) => passedOn.includes(name));
    if (controllers.length > 0) return [{ version: 2, controllers, own, parent }];
  }
  return [];
}

const isUnlimited = (group: string, read: Read): boolean =>
  ["memory.max", "memory.high", "pids.max"].every((name) =>
    ["max", ""].includes(read(join(group, name)).trim()),
  );

interface Mount {
  readonly version: 1 | 2;
  /** The group that is visible at the mount point. */
  readonly root: string;
  readonly point: string;
  readonly options: ReadonlySet<string>;
}

/** Reads /proc/self/mountinfo: `36 35 0:31 ROOT POINT rw,relatime shared:9 - TYPE SOURCE OPTIONS`. */
function parseMounts(text: string): Mount[] {
  return text.split("\n").flatMap((line) => {
    const [before = "", after = ""] = line.split(" - ");
    const [, , , root = "", point = ""] = before.split(" ").map(unescaped);
    const [type, , options = ""] = after.split(" ");
    if (type !== "cgroup" && type !== "cgroup2") return [];
    return [{ version: type === "cgroup" ? 1 : 2, root, point, options: new Set(options.split(",")) }];
  });
}

/** Spaces and the like are octal there. */
const unescaped = (text: string): string =>
  text.replaceAll(/\\([0-7]{3})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 8)));

/** In a container the mount may show only a part of the tree, and paths may begin at that part. */
function folderOf(path: string, { root, point }: Mount): string {
  const below = relative(root, path);
  return join(point, below.startsWith("..") ? path : below);
}
