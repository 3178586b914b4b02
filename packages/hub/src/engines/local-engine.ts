import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { newHandle, ToolError } from "@octant/core";
import { findTrusted, replaceFile, startTrusted } from "@octant/host";
import { toFlags } from "./bubblewrap-flags.ts";
import {
  availableControllers,
  createGroup,
  entriesOf,
  readHits,
  readUse,
  removeGroup,
  toCpuPercent,
} from "./control-groups.ts";
import { MEGABYTE } from "./docker-spec.ts";
import {
  type ContainerEngine,
  type ContainerLimits,
  type ContainerSpec,
  type ContainerState,
  notRunning,
} from "./engine.ts";
import { createSharedNetwork, type SharedNetwork } from "./shared-network.ts";

interface Stored {
  readonly spec: ContainerSpec;
  readonly state: ContainerState["state"];
}

const END_MS = 2_000;
const SAMPLE_MS = 100;
/** The unit of `ulimit -f`. */
const BLOCK_BYTES = 512;
/** Enters the groups that are named before `--`, limits the size of files, and becomes the command. */
const ENTER =
  'ulimit -f "$1" || exit 125; shift; while [ "$1" != -- ]; do echo $$ > "$1" || exit 125; shift; done; shift; exec "$@"';

/**
 * Containers without an engine: each command runs in a bubblewrap sandbox that sees the machine's programs and the
 * mounts of its container, in the network of the container. A container is a record; it has no process while no command
 * runs.
 */
export function createLocalEngine({ folder }: { readonly folder: string }): ContainerEngine {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const running = new Map<string, Set<ChildProcess>>();
  const networks = new Map<string, Promise<SharedNetwork>>();
  const fileOf = (id: string) => join(folder, `${id}.json`);
  const load = (id: string): Stored | undefined => {
    // `store` is the only writer.
    return existsSync(fileOf(id)) ? (JSON.parse(readFileSync(fileOf(id), "utf8")) as Stored) : undefined;
  };
  const find = (id: string): Stored => {
    const stored = load(id);
    if (stored) return stored;
    throw new ToolError("NOT_FOUND", `there is no container '${id}'`, { id });
  };
  const store = (id: string, stored: Stored) =>
    // Another hub of the folder may read it meanwhile, and a kill must not leave half of it.
    replaceFile(fileOf(id), JSON.stringify(stored), { mode: 0o600 });
  const toState = (id: string, { spec: { name, labels }, state }: Stored): ContainerState => ({
    id,
    name,
    labels,
    state,
  });
  const bubblewrap = () => {
    const program = findTrusted("bwrap");
    if (program) return program;
    throw new ToolError("UNSUPPORTED", "the local engine needs bubblewrap, which is not installed", {
      what: "containers of the local engine",
      how: "install bubblewrap (apt-get install bubblewrap), or use Podman: octant hub --engine podman",
    });
  };
  const shell = () => {
    const program = findTrusted("sh");
    if (program) return program;
    throw new ToolError("EXEC_FAILED", "this machine has no sh", { program: "sh" });
  };
  const groupOf = (id: string) => `octant-${id}`;
  const groupsOf = (id: string, limits: ContainerLimits) => createGroup(groupOf(id), limits);
  const findRunning = (id: string): ContainerSpec => {
    const { spec, state } = find(id);
    if (state !== "running") throw notRunning(state);
    return spec;
  };
  const networkOf = (id: string): Promise<SharedNetwork> => {
    const known = networks.get(id) ?? createSharedNetwork(bubblewrap());
    networks.set(id, known);
    known.catch(() => networks.delete(id));
    return known;
  };
  const endAll = async (id: string) => {
    for (const child of running.get(id) ?? []) {
      child.kill("SIGTERM");
      const timer = setTimeout(() => child.kill("SIGKILL"), END_MS);
      if (child.exitCode === null && child.signalCode === null) await once(child, "close");
      clearTimeout(timer);
    }
    const network = networks.get(id);
    networks.delete(id);
    (await network?.catch(() => undefined))?.close();
    await removeGroup(groupOf(id));
  };

  return {
    async status() {
      const program = findTrusted("bwrap");
      const limits = heldLimits();
      const how = "bubblewrap is not installed: apt-get install bubblewrap, or use --engine podman";
      return {
        name: "local",
        available: program !== undefined,
        images: false,
        detail: program
          ? `bubblewrap on this machine: own processes, mounts and network, the kernel and the programs of this machine, no images; ${describe(limits)}`
          : how,
        enforces: [...limits, "disk_mb", "network:none", "network:allow", "network:on"],
      };
    },
    async create(spec) {
      if (spec.image !== undefined) throw noImages("the image of a project");
      const id = newHandle("local", Date.now());
      store(id, { spec, state: "created" });
      return id;
    },
    async start(id) {
      bubblewrap();
      store(id, { ...find(id), state: "running" });
    },
    async stop(id) {
      store(id, { ...find(id), state: "stopped" });
      await endAll(id);
    },
    async remove(id) {
      await endAll(id);
      rmSync(fileOf(id), { force: true });
    },
    async inspect(id) {
      const stored = load(id);
      return stored && toState(id, stored);
    },
    async list(labels) {
      const ids = readdirSync(folder).flatMap((name) =>
        name.endsWith(".json") ? [name.slice(0, -".json".length)] : [],
      );
      const fits = ({ labels: own }: ContainerState) =>
        Object.entries(labels).every(([key, value]) => own[key] === value);
      return ids.map((id) => toState(id, find(id))).filter(fits);
    },
    async exec(id, { argv, cwd, env }) {
      const network = findRunning(id).network === "on" ? undefined : await networkOf(id);
      // It may have been stopped meanwhile.
      const spec = findRunning(id);
      const { disk_mb } = spec.limits;
      const blocks = disk_mb === undefined ? "unlimited" : String((disk_mb * MEGABYTE) / BLOCK_BYTES);
      const groups = entriesOf(groupsOf(id, spec.limits));
      const enter = ["-c", ENTER, "sh", blocks, ...groups, "--", ...(network?.enter ?? []), bubblewrap()];
      const inside = [...(spec.forwarder ?? []), ...argv];
      const child = startTrusted(shell(), [...enter, ...toFlags(spec, cwd, env), "--", ...inside], {
        env: {},
      });
      const own = running.get(id) ?? new Set();
      running.set(id, own.add(child));
      const { promise: exited, resolve, reject } = Promise.withResolvers<number | null>();
      child.on("error", reject);
      child.on("close", (code) => {
        own.delete(child);
        resolve(code);
      });
      child.stdin.on("error", () => {});
      const { stdin, stdout, stderr } = child;
      return { stdin, stdout, stderr, exited, kill: async () => void child.kill("SIGKILL") };
    },
    logs: async () => "",
    async stats(id) {
      const folders = groupsOf(id, find(id).spec.limits);
      const before = readUse(folders);
      const at = performance.now();
      await delay(SAMPLE_MS);
      const after = readUse(folders);
      if (before && after)
        return {
          memory_bytes: after.memory_bytes,
          pids: after.pids,
          cpu_percent: toCpuPercent(after.cpuNanos - before.cpuNanos, performance.now() - at),
        };
      return {
        not_counted: `the local engine needs control groups to count what a container uses; ${DELEGATE}, or use Podman: octant hub --engine podman`,
      };
    },
    async hits(id) {
      return readHits(groupsOf(id, find(id).spec.limits));
    },
    hasImage: async () => false,
    build: async () => {
      throw noImages("image_rebuild");
    },
    importImage: async () => {
      throw noImages("an image");
    },
    pull: async () => {
      throw noImages("an image");
    },
    async close() {
      for (const id of new Set([...running.keys(), ...networks.keys()])) await endAll(id);
    },
  };
}

const DELEGATE =
  "start the hub where it may create control groups (systemd-run --user --scope -p Delegate=yes octant hub)";

const LIMITS = { memory: "memory_mb", pids: "pids", cpu: "cpus" } as const;

function heldLimits(): readonly (keyof ContainerLimits)[] {
  const available = availableControllers();
  return (["memory", "pids", "cpu"] as const).flatMap((name) =>
    available.includes(name) ? [LIMITS[name]] : [],
  );
}

function describe(held: readonly (keyof ContainerLimits)[]): string {
  const missing = Object.values(LIMITS).filter((limit) => !held.includes(limit));
  if (missing.length === 0) return "limits of memory, processes and processors by control groups";
  return `no limits of ${missing.join(", ")}: ${DELEGATE}`;
}

const noImages = (what: string) =>
  new ToolError(
    "UNSUPPORTED",
    "the local engine has no images: its containers have the programs of this machine",
    { what: `${what} on the local engine`, how: "use Podman: octant hub --engine podman" },
  );
