import { MACHINE_PROGRAMS, MACHINE_SETTINGS } from "../images/machine-image.ts";
import { BASE_ENV, DEFAULT_SCRATCH_MB, MEGABYTE } from "./docker-spec.ts";
import type { ContainerSpec } from "./engine.ts";

const NETWORK_SETTINGS = ["/etc/resolv.conf", "/etc/nsswitch.conf", "/etc/hosts", "/etc/services"];
const FLAGS = ["--die-with-parent", "--new-session", "--unshare-pid", "--unshare-ipc", "--unshare-uts"];

/** The flags of bubblewrap for a command of a container, in the network in which it starts. */
export function toFlags(
  spec: ContainerSpec,
  cwd: string | undefined,
  env: Readonly<Record<string, string>> = {},
): string[] {
  const isRoot = process.getuid?.() === 0;
  const settings = spec.network === "on" ? [...MACHINE_SETTINGS, ...NETWORK_SETTINGS] : MACHINE_SETTINGS;
  const scratch = ["--size", String((spec.limits.disk_mb ?? DEFAULT_SCRATCH_MB) * MEGABYTE), "--tmpfs"];
  return [
    ...FLAGS,
    ...["--hostname", "octant"],
    ...(isRoot ? [] : ["--unshare-user"]),
    ...["--cap-drop", "ALL", "--clearenv"],
    ...[...MACHINE_PROGRAMS, ...settings].flatMap((path) => ["--ro-bind-try", path, path]),
    // Root needs no capability to write to settings of the kernel there.
    ...["--proc", "/proc", "--remount-ro", "/proc", "--dev", "/dev"],
    ...[...scratch, "/tmp", ...scratch, "/root"],
    ...spec.mounts.flatMap(({ source, target, readOnly }) => [
      readOnly ? "--ro-bind" : "--bind",
      source,
      target,
    ]),
    ...["--remount-ro", "/", "--chdir", cwd ?? spec.cwd],
    ...Object.entries({ ...BASE_ENV, ...spec.env, ...env }).flatMap(([name, value]) => [
      "--setenv",
      name,
      value,
    ]),
  ];
}
