import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { newHandle, ToolError } from "@octant/core";
import { findTrusted, startTrusted } from "@octant/host";
import type { ContainerEngine, ContainerSpec, ContainerState } from "./engine.ts";

interface Stored {
  readonly spec: ContainerSpec;
  readonly state: ContainerState["state"];
}

/** Of the machine's files a container has programs and libraries, and nothing of its users or its settings. */
const READ_ONLY = ["/usr", "/bin", "/sbin", "/lib", "/lib64", "/lib32", "/libx32"];
const READ_ONLY_SETTINGS = [
  "/etc/alternatives",
  "/etc/ca-certificates",
  "/etc/ld.so.cache",
  "/etc/ld.so.conf",
  "/etc/ld.so.conf.d",
  "/etc/localtime",
  "/etc/ssl",
];
const NETWORK_SETTINGS = ["/etc/resolv.conf", "/etc/nsswitch.conf", "/etc/hosts", "/etc/services"];
const BASE_ENV = { PATH: "/usr/local/bin:/usr/bin:/bin", HOME: "/root", LANG: "C.UTF-8" };
const END_MS = 2_000;

/**
 * Containers without an engine: each command runs in a bubblewrap sandbox that sees the machine's programs and the
 * mounts of its container. A container is a record; it has no process while no command runs.
 */
export function createLocalEngine({ folder }: { readonly folder: string }): ContainerEngine {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const running = new Map<string, Set<ChildProcess>>();
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
    writeFileSync(fileOf(id), JSON.stringify(stored), { mode: 0o600, flush: true });
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
  const endAll = async (id: string) => {
    for (const child of running.get(id) ?? []) {
      child.kill("SIGTERM");
      const timer = setTimeout(() => child.kill("SIGKILL"), END_MS);
      if (child.exitCode === null && child.signalCode === null) await once(child, "close");
      clearTimeout(timer);
    }
  };

  return {
    async status() {
      const program = findTrusted("bwrap");
      const how = "bubblewrap is not installed: apt-get install bubblewrap, or use --engine podman";
      return {
        name: "local",
        available: program !== undefined,
        detail: program
          ? "bubblewrap on this machine: own processes, mounts and network; the programs of this machine, no images, and no limits of memory, processes or disk"
          : how,
        enforces: ["network:none", "network:on"],
      };
    },
    async create(spec) {
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
      const { spec, state } = find(id);
      if (state !== "running")
        throw new ToolError("CONFLICT", "the container does not run; container.start starts it", {
          expected: "running",
          actual: state,
        });
      const child = startTrusted(bubblewrap(), [...toFlags(spec, cwd, env), "--", ...argv], { env: {} });
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
    logs: async () =>
      "the local engine has no main process, so there is no log; session.events has what its commands printed\n",
    async stats(id) {
      find(id);
      throw new ToolError("UNSUPPORTED", "the local engine does not count what a container uses", {
        what: "container.stats on the local engine",
        how: "use Podman: octant hub --engine podman",
      });
    },
    hasImage: async () => true,
    async build() {
      throw new ToolError(
        "UNSUPPORTED",
        "the local engine has no images: containers have the programs of this machine",
        {
          what: "image_rebuild on the local engine",
          how: "use Podman: octant hub --engine podman",
        },
      );
    },
    async close() {
      for (const id of running.keys()) await endAll(id);
    },
  };
}

function toFlags(
  spec: ContainerSpec,
  cwd: string | undefined,
  env: Readonly<Record<string, string>> = {},
): string[] {
  const isRoot = process.getuid?.() === 0;
  const settings = spec.network === "on" ? [...READ_ONLY_SETTINGS, ...NETWORK_SETTINGS] : READ_ONLY_SETTINGS;
  return [
    ...[
      "--die-with-parent",
      "--new-session",
      "--unshare-pid",
      "--unshare-ipc",
      "--unshare-uts",
      "--hostname",
      "octant",
    ],
    ...(isRoot ? [] : ["--unshare-user"]),
    ...(spec.network === "on" ? [] : ["--unshare-net"]),
    ...["--cap-drop", "ALL", "--clearenv"],
    ...[...READ_ONLY, ...settings].flatMap((path) => ["--ro-bind-try", path, path]),
    ...["--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp", "--tmpfs", "/root"],
    ...spec.mounts.flatMap(({ source, target, readOnly }) => [
      readOnly ? "--ro-bind" : "--bind",
      source,
      target,
    ]),
    ...["--chdir", cwd ?? spec.cwd],
    ...Object.entries({ ...BASE_ENV, ...spec.env, ...env }).flatMap(([name, value]) => [
      "--setenv",
      name,
      value,
    ]),
  ];
}
