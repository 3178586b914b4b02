import { toBytes } from "../path.ts";
import type { Mount } from "./mount.ts";

export interface BubblewrapOptions {
  /** Without a user namespace, as the machine's root: files of every owner can be worked on, as outside. */
  readonly isRoot: boolean;
  readonly mounts: readonly Mount[];
}

/**
 * Capabilities that root retains: files of other owners, switching users and killing their processes, low ports.
 * Dropped: mount, trace, load modules, read logs, devices, raw sockets, open by handle.
 */
const ROOT_KEEPS = [
  "CHOWN",
  "DAC_OVERRIDE",
  "FOWNER",
  "FSETID",
  "KILL",
  "SETGID",
  "SETUID",
  "NET_BIND_SERVICE",
];

/** The arguments that stay the same from command to command, as `--args` reads them. */
export function toArgumentFile({ isRoot, mounts }: BubblewrapOptions): Buffer {
  const rights = isRoot
    ? ["--cap-drop", "ALL", ...ROOT_KEEPS.flatMap((name) => ["--cap-add", `CAP_${name}`])]
    : ["--unshare-user"];
  const args = [...NAMESPACES, "--die-with-parent", ...rights, ...mounts.flatMap(toArguments)];
  return Buffer.concat(args.flatMap((arg) => [toBytes(arg), Buffer.of(0)]));
}

const NAMESPACES = ["--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"];

export function toArguments(mount: Mount): string[] {
  switch (mount.kind) {
    case "read":
      return [mount.mayBeGone ? "--ro-bind-try" : "--ro-bind", mount.source, mount.at];
    case "write":
      return [mount.mayBeGone ? "--bind-try" : "--bind", mount.source, mount.at];
    case "device":
      return ["--dev-bind", mount.source, mount.at];
    case "empty":
      return ["--tmpfs", mount.at];
    case "folder":
      return ["--dir", mount.at];
    case "link":
      return ["--symlink", mount.target, mount.at];
    case "seal":
      return ["--remount-ro", mount.at];
    case "devices":
      return ["--dev", mount.at];
    case "processes":
      return ["--proc", mount.at];
  }
}
