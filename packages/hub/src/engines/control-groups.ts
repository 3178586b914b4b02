import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { attempt } from "@octant/core";
import { type Controller, findHierarchies, type Hierarchy } from "@octant/host";
import { MEGABYTE } from "./docker-spec.ts";
import type { ContainerLimits, ContainerStats, LimitHits } from "./engine.ts";

const MOUNT = "/sys/fs/cgroup";
const CONTROLLERS: readonly Controller[] = ["memory", "pids", "cpu", "cpuacct"];
const PERIOD_US = 100_000;
const NANOS_PER_MS = 1e6;
const NANOS_PER_US = 1_000;

/** The folders of a group; version 1 has one for each controller. */
export type GroupFolders = Readonly<Partial<Record<Controller, string>>>;

/** The group of a process; undefined when the process is gone. */
export function groupsOf(pid: number): GroupFolders | undefined {
  const lines = attempt(() => readFileSync(`/proc/${pid}/cgroup`, "utf8"))?.split("\n");
  const pathOf = (controller: string): string | undefined =>
    lines
      ?.map((line) => /^(\d+):([^:]*):(.*)$/.exec(line))
      .find((match) => match?.[2]?.split(",").includes(controller))?.[3];
  const [memory, pids, both] = [pathOf("memory"), pathOf("pids"), pathOf("")];
  if (memory !== undefined && pids !== undefined)
    return { memory: join(MOUNT, "memory", memory), pids: join(MOUNT, "pids", pids) };
  return both === undefined ? undefined : { memory: join(MOUNT, both), pids: join(MOUNT, both) };
}

/** The counters have the same names in both versions; the memory file does not. */
export function readHits({ memory = "", pids = "" }: GroupFolders): LimitHits {
  return {
    memory:
      readCount(join(memory, "memory.events"), "oom_kill") ??
      readCount(join(memory, "memory.oom_control"), "oom_kill") ??
      0,
    pids: readCount(join(pids, "pids.events"), "max") ?? 0,
  };
}

/** The controllers whose groups this process may create; asked by creating one. */
export function availableControllers(): readonly Controller[] {
  const probe = `octant-probe-${process.pid}`;
  return findHierarchies(undefined, CONTROLLERS).flatMap(({ parent, controllers }) => {
    const folder = join(parent, probe);
    const made = attempt(() => {
      mkdirSync(folder);
      rmdirSync(folder);
      return true;
    });
    return made ? controllers : [];
  });
}

/** Makes the group of a container, with its limits; empty where this process may not. */
export function createGroup(name: string, limits: ContainerLimits): GroupFolders {
  const folders: Partial<Record<Controller, string>> = {};
  for (const { version, controllers, parent } of findHierarchies(undefined, CONTROLLERS)) {
    const folder = join(parent, name);
    const made = attempt(() => {
      mkdirSync(folder, { recursive: true });
      for (const controller of controllers)
        for (const [file, value] of toSettings(controller, version, limits)) set(join(folder, file), value);
      return true;
    });
    if (made) for (const controller of controllers) folders[controller] = folder;
  }
  return folders;
}

/** The files through which a process enters a group. */
export const entriesOf = (folders: GroupFolders): string[] =>
  [...new Set(Object.values(folders))].map((folder) => join(folder, "cgroup.procs"));

/** The kernel removes killed processes from their group within this time. */
const REMOVAL_MS = 5_000;
const REMOVAL_POLL_MS = 10;

/** Waits for the end of its killed processes. A group that still has one after that is left. */
export async function removeGroup(name: string): Promise<void> {
  const end = performance.now() + REMOVAL_MS;
  for (const { parent } of findHierarchies(undefined, CONTROLLERS))
    while (!isRemoved(join(parent, name)) && performance.now() < end) await sleep(REMOVAL_POLL_MS);
}

function isRemoved(folder: string): boolean {
  try {
    rmdirSync(folder);
    return true;
  } catch (cause) {
    return Object(cause).code !== "EBUSY";
  }
}

/** The resources that the group has used; undefined where they are not counted. `cpuNanos` only grows. */
export function readUse({ memory, pids, cpu, cpuacct }: GroupFolders) {
  const memory_bytes =
    memory &&
    (readNumber(join(memory, "memory.current")) ?? readNumber(join(memory, "memory.usage_in_bytes")));
  const count = pids && readNumber(join(pids, "pids.current"));
  const micros = cpu && readCount(join(cpu, "cpu.stat"), "usage_usec");
  const nanos = cpuacct ? readNumber(join(cpuacct, "cpuacct.usage")) : undefined;
  if (typeof memory_bytes !== "number" || typeof count !== "number") return undefined;
  const cpuNanos = nanos ?? (typeof micros === "number" ? micros * NANOS_PER_US : 0);
  return { memory_bytes, pids: count, cpuNanos };
}

export const toCpuPercent = (nanos: number, ms: number): ContainerStats["cpu_percent"] =>
  ms > 0 ? Math.round((nanos / (ms * NANOS_PER_MS)) * 1_000) / 10 : 0;

type Setting = readonly [file: string, value: string];
/** Kernels without swap lack its files; then there is nothing to limit. */
const OPTIONAL = /memsw|swap/;

function set(file: string, value: string): void {
  if (OPTIONAL.test(file)) attempt(() => writeFileSync(file, value));
  else writeFileSync(file, value);
}

function toSettings(
  controller: Controller,
  version: Hierarchy["version"],
  { memory_mb, pids, cpus }: ContainerLimits,
): Setting[] {
  if (controller === "memory" && memory_mb !== undefined) {
    const bytes = String(memory_mb * MEGABYTE);
    return version === 1
      ? [
          ["memory.limit_in_bytes", bytes],
          ["memory.memsw.limit_in_bytes", bytes],
        ]
      : [
          ["memory.max", bytes],
          ["memory.swap.max", "0"],
        ];
  }
  if (controller === "pids" && pids !== undefined) return [["pids.max", String(pids)]];
  if (controller !== "cpu" || cpus === undefined) return [];
  const quota = String(Math.round(cpus * PERIOD_US));
  return version === 1
    ? [
        ["cpu.cfs_period_us", String(PERIOD_US)],
        ["cpu.cfs_quota_us", quota],
      ]
    : [["cpu.max", `${quota} ${PERIOD_US}`]];
}

const readNumber = (file: string): number | undefined =>
  attempt(() => (existsSync(file) ? Number(readFileSync(file, "utf8").trim()) : undefined));

function readCount(file: string, name: string): number | undefined {
  const text = attempt(() => readFileSync(file, "utf8"));
  const [, count] = new RegExp(`^${name} (\\d+)$`, "m").exec(text ?? "") ?? [];
  return count === undefined ? undefined : Number(count);
}
