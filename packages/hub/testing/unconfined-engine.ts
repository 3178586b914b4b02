import { spawn } from "node:child_process";
import type { ContainerEngine, ContainerSpec, ContainerState } from "../src/engines/engine.ts";

interface Container extends ContainerSpec {
  state: ContainerState["state"];
}

/** Runs commands on this machine without any confinement, for tests of everything above the engine. */
export function createUnconfinedEngine(): ContainerEngine {
  const containers = new Map<string, Container>();
  const find = (id: string): Container => {
    const found = containers.get(id);
    if (!found) throw new Error(`there is no container ${id}`);
    return found;
  };
  const toState = (id: string, { name, state, labels }: Container): ContainerState => ({
    id,
    name,
    state,
    labels,
  });
  return {
    status: async () => ({
      name: "unconfined",
      available: true,
      images: false,
      detail: "nothing is confined",
      enforces: ["memory_mb", "network:none"],
    }),
    async create(spec) {
      const id = spec.name;
      if (containers.has(id)) throw new Error(`there is already a container ${id}`);
      containers.set(id, { ...spec, state: "created" });
      return id;
    },
    async start(id) {
      find(id).state = "running";
    },
    async stop(id) {
      find(id).state = "stopped";
    },
    async remove(id) {
      containers.delete(id);
    },
    async inspect(id) {
      const found = containers.get(id);
      return found && toState(id, found);
    },
    list: async (labels) =>
      [...containers]
        .filter(([, one]) => Object.entries(labels).every(([key, value]) => one.labels[key] === value))
        .map(([id, one]) => toState(id, one)),
    async exec(id, { argv: [program = "", ...args], cwd = "/", env }) {
      const { mounts, state } = find(id);
      if (state !== "running") throw new Error(`container ${id} does not run`);
      const mount = mounts.find(({ target }) => cwd.startsWith(target));
      const place = mount ? mount.source + cwd.slice(mount.target.length) : cwd;
      const child = spawn(program, args, { cwd: place, env: { ...process.env, ...env } });
      const { promise: exited, resolve, reject } = Promise.withResolvers<number | null>();
      child.on("error", reject);
      child.on("close", resolve);
      return { ...child, exited, kill: async () => void child.kill("SIGKILL") };
    },
    logs: async () => "",
    stats: async () => ({ cpu_percent: 0, memory_bytes: 0, pids: 0 }),
    hits: async () => ({ memory: 0, pids: 0 }),
    hasImage: async () => true,
    build: async () => {},
    importImage: async () => {},
    pull: async () => {},
    close: async () => {},
  };
}
