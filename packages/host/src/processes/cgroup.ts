import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { attempt } from "@octant/core";
import { IDENTITY, isDead } from "../jobs/process-identity.ts";
import { type Controller, findHierarchies, type Hierarchy } from "./hierarchies.ts";

/** Resource limits for commands, where the system supports them (see `limitsOf`). */
export interface ProcessLimits {
  /** For each command with all that it starts, at least MIN_MEMORY_BYTES; no limit when absent. */
  readonly memoryBytes?: number | undefined;
  /** For each command with all that it starts; when absent, all commands of a server share MAX_PROCESSES. */
  readonly maxProcesses?: number | undefined;
}

export const MAX_PROCESSES = 4_096;
/** The supervisor is briefly a member of the group, so the limit must leave room for it. */
const MIN_MEMORY_BYTES = 16 * 1024 * 1024;

/** The control groups of one server's commands. */
export type Groups = ReturnType<typeof createGroups>;

/** Groups are created where this process may; elsewhere commands run without limits. */
export function createGroups(server: string, limits: ProcessLimits) {
  const hierarchies = findHierarchies();
  for (const { parent } of hierarchies) sweepGroups(parent);
  const bases = hierarchies.flatMap((hierarchy) => createBase(hierarchy, server, limits) ?? []);
  const limiting = bases.filter(({ perCommand }) => perCommand.length > 0);
  const leaving = new Set<string>();

  return {
    /** Whether each command has limits of its own, which apply from its start. */
    limitsEach: limiting.length > 0,
    /** Applies the limits to the process that `start` creates before returning, and to its descendants. */
    startIn<T>(proc_id: string, start: () => T): T {
      const entered: Base[] = [];
      try {
        for (const base of limiting) {
          const group = join(base.folder, proc_id);
          mkdirSync(group);
          setLimits(group, base.perCommand.filter(isAboutBytes));
          moveTo(group);
          entered.push(base);
        }
        return start();
      } finally {
        for (const { home, folder, perCommand } of entered) {
          moveTo(home);
          // The threads of the supervisor were processes of the group too.
          setLimits(
            join(folder, proc_id),
            perCommand.filter((limit) => !isAboutBytes(limit)),
          );
        }
      }
    },
    /** Whether the memory limit has ended something of it so far. */
    ranOutOfMemory: (proc_id: string): boolean =>
      limiting.some(({ folder }) => countKills(join(folder, proc_id)) > 0),
    /** Removes its group once it is empty. */
    leave(proc_id: string): void {
      for (const { folder } of limiting) leaving.add(join(folder, proc_id));
      for (const group of leaving) if (removeGroup(group)) leaving.delete(group);
    },
    close(): void {
      for (const { hierarchy, folder } of bases) {
        attempt(() => moveTo(hierarchy.own));
        removeGroup(folder);
      }
    },
  };
}

/**
 * The available limits and the controllers that enforce them; null where there are none. Detected by creating groups,
 * because the system's own report is unreliable.
 */
export function limitsOf() {
  const usable = findHierarchies().filter(({ parent }) => {
    const probe = join(parent, `${PREFIX}probe-${process.pid}`);
    return succeeds(() => mkdirSync(probe)) && removeGroup(probe);
  });
  const by = (controller: Controller) => {
    const found = usable.find(({ controllers }) => controllers.includes(controller));
    return found ? `cgroup v${found.version}` : null;
  };
  return { memory: by("memory"), processes: by("pids") };
}

const PREFIX = "octant-";

/** The group of a server in one hierarchy: those of its commands are below it. */
interface Base {
  readonly hierarchy: Hierarchy;
  readonly folder: string;
  /** Where the supervisor is when it starts nothing; commands without limits of their own are there too. */
  readonly home: string;
  readonly perCommand: readonly Limit[];
}

/** A control file of a group and its value. */
type Limit = readonly [file: string, value: number | string];

const isAboutBytes = ([name]: Limit): boolean => name.startsWith("memory.");

/** Undefined where it is not allowed, or nothing is to be limited. */
function createBase(hierarchy: Hierarchy, server: string, limits: ProcessLimits): Base | undefined {
  const { version, controllers, parent, own } = hierarchy;
  const folder = join(parent, `${PREFIX}${server}`);
  const perCommand = controllers.flatMap((controller) => toLimits(controller, version, limits));
  const forAll: Limit[] = controllers.includes("pids") ? [["pids.max", MAX_PROCESSES]] : [];
  if (version === 1 && forAll.length + perCommand.length === 0) return undefined;
  const passOn: Limit[] = [["cgroup.subtree_control", controllers.map((name) => `+${name}`).join(" ")]];
  // In version 2 a group that has groups with limits below it holds no processes itself.
  const home = version === 2 ? join(folder, "supervisor") : forAll.length > 0 ? folder : own;
  const made = succeeds(() => {
    mkdirSync(folder);
    setLimits(folder, version === 2 ? [...passOn, ...forAll] : forAll);
    if (version === 2) mkdirSync(home);
    if (home !== own) moveTo(home);
  });
  if (made) return { hierarchy, folder, home, perCommand };
  removeGroup(folder);
  return undefined;
}

function toLimits(controller: Controller, version: 1 | 2, limits: ProcessLimits): Limit[] {
  if (controller === "pids")
    return limits.maxProcesses === undefined ? [] : [["pids.max", limits.maxProcesses]];
  if (limits.memoryBytes === undefined) return [];
  const bytes = Math.max(limits.memoryBytes, MIN_MEMORY_BYTES);
  if (version === 1)
    return [
      ["memory.limit_in_bytes", bytes],
      ["memory.memsw.limit_in_bytes", bytes],
    ];
  return [
    ["memory.max", bytes],
    ["memory.swap.max", 0],
    ["memory.oom.group", 1],
  ];
}

/** Kernels without swap lack its files; then there is nothing to limit. */
const OPTIONAL = new Set(["memory.memsw.limit_in_bytes", "memory.swap.max", "memory.oom.group"]);

function setLimits(group: string, limits: readonly Limit[]): void {
  for (const [name, value] of limits) {
    const write = () => writeFileSync(join(group, name), String(value));
    if (OPTIONAL.has(name)) attempt(write);
    else write();
  }
}

const moveTo = (group: string): void => writeFileSync(join(group, "cgroup.procs"), String(process.pid));

/** False while something is in it. */
function removeGroup(group: string): boolean {
  const remove = () => {
    for (const entry of readdirSync(group, { withFileTypes: true }))
      if (entry.isDirectory()) rmdirSync(join(group, entry.name));
    rmdirSync(group);
  };
  return succeeds(remove) || !existsSync(group);
}

/** Removes the groups of servers that died together with their supervisors. */
function sweepGroups(parent: string): void {
  attempt(() => {
    for (const name of readdirSync(parent))
      if (SERVER_GROUP.test(name) && isDead(name.slice(PREFIX.length))) removeGroup(join(parent, name));
  });
}

const SERVER_GROUP = new RegExp(`^${PREFIX}${IDENTITY}:[0-9a-f]+$`);

/** Either file has the line, in version 1 and in version 2. */
function countKills(group: string): number {
  for (const name of ["memory.oom_control", "memory.events"]) {
    const text = attempt(() => readFileSync(join(group, name), "utf8")) ?? "";
    const [, count] = /^oom_kill (\d+)$/m.exec(text) ?? [];
    if (count !== undefined) return Number(count);
  }
  return 0;
}

/** False when the system does not allow it; the caller then skips that limit. */
const succeeds = (work: () => void): boolean =>
  attempt(() => {
    work();
    return true;
  }) ?? false;
