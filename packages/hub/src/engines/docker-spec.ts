import { readFileSync } from "node:fs";
import type { ContainerSpec, Mount } from "./engine.ts";

export interface MachineImage {
  readonly image: string;
  readonly mounts: readonly Mount[];
}

/** Marks a container whose main process is the way to the hub's proxy. */
export const FORWARDER_LABEL = "octant.forwarder";

/** The environment of every container. */
export const BASE_ENV = {
  PATH: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
  HOME: "/root",
  LANG: "C.UTF-8",
};

export const MEGABYTE = 1024 * 1024;
/** A container without `disk_mb` has this much in /tmp and in its home. */
export const DEFAULT_SCRATCH_MB = 1_024;
/** A shell that waits is a small init: it ends at once when it is asked to, and reaps what others leave. */
const IDLE = ["/bin/sh", "-c", "trap 'exit 0' TERM INT; while :; do sleep 2147483647 & wait $!; done"];
const MAX_FILES = 65_536;
/** Podman lowers its own limit to 32,768. */
const MAX_PROCESSES = 16_384;
const NANO = 1e9;

/** The request that creates a container. Nothing in it can be widened by an image. */
export function toCreateRequest(
  spec: ContainerSpec,
  { user, machine }: { readonly user: string; readonly machine: MachineImage },
) {
  const { image, limits, network, forwarder = [] } = spec;
  const scratch = `rw,exec,nosuid,nodev,mode=1777,size=${(limits.disk_mb ?? DEFAULT_SCRATCH_MB) * MEGABYTE}`;
  const mounts = [...(image === undefined ? machine.mounts : []), ...spec.mounts];
  return {
    Image: image ?? machine.image,
    User: user,
    Hostname: "octant",
    WorkingDir: spec.cwd,
    Entrypoint: [...forwarder, ...IDLE],
    Cmd: [],
    Env: toEnv({ ...BASE_ENV, ...spec.env }),
    Labels: { ...spec.labels, ...(spec.forwarder && { [FORWARDER_LABEL]: "yes" }) },
    HostConfig: {
      ReadonlyRootfs: true,
      CapDrop: ["ALL"],
      SecurityOpt: ["no-new-privileges"],
      Privileged: false,
      IpcMode: "private",
      RestartPolicy: { Name: "no" },
      NetworkMode: network === "on" ? "bridge" : "none",
      Tmpfs: { "/tmp": scratch, "/root": scratch },
      Mounts: mounts.map(({ source, target, readOnly }) => ({
        Type: "bind",
        Source: source,
        Target: target,
        ReadOnly: readOnly,
        BindOptions: { Propagation: "rprivate" },
      })),
      Ulimits: toUlimits(limits.disk_mb),
      ...(limits.pids !== undefined && { PidsLimit: limits.pids }),
      ...(limits.cpus !== undefined && { NanoCpus: Math.round(limits.cpus * NANO) }),
      ...(limits.memory_mb !== undefined && {
        Memory: limits.memory_mb * MEGABYTE,
        // Both together: no swap beyond the memory.
        MemorySwap: limits.memory_mb * MEGABYTE,
      }),
    },
  };
}

export const toEnv = (env: Readonly<Record<string, string>>): string[] =>
  Object.entries(env).map(([name, value]) => `${name}=${value}`);

/** An engine without CAP_SYS_RESOURCE cannot raise limits, so none is above those of this process. */
function toUlimits(disk_mb: number | undefined) {
  const own = readFileSync("/proc/self/limits", "utf8");
  const atMost = (name: string, most: number): number => {
    const [, hard] = new RegExp(`^${name} +\\S+ +(\\d+)`, "m").exec(own) ?? [];
    return hard === undefined ? most : Math.min(Number(hard), most);
  };
  const limit = (name: string, value: number) => ({ Name: name, Soft: value, Hard: value });
  return [
    limit("nofile", atMost("Max open files", MAX_FILES)),
    limit("nproc", atMost("Max processes", MAX_PROCESSES)),
    ...(disk_mb === undefined ? [] : [limit("fsize", disk_mb * MEGABYTE)]),
  ];
}
