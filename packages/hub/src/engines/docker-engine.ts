import { readFileSync } from "node:fs";
import type { Socket } from "node:net";
import { text } from "node:stream/consumers";
import { setTimeout as delay } from "node:timers/promises";
import { attempt, newHandle, ToolError } from "@octant/core";
import { endTree } from "@octant/host";
import { ensureMachineImage, toMachineImage } from "../images/machine-image.ts";
import { groupsOf, readHits } from "./control-groups.ts";
import { createDockerApi } from "./docker-api.ts";
import { followMessages } from "./docker-messages.ts";
import { FORWARDER_LABEL, toCreateRequest, toEnv } from "./docker-spec.ts";
import { demultiplex } from "./docker-stream.ts";
import {
  type ContainerEngine,
  type ContainerState,
  type EngineStatus,
  type ExecProcess,
  notRunning,
} from "./engine.ts";
import { endMonitor } from "./podman-monitor.ts";

export interface DockerEngineOptions {
  connect(): Promise<Socket>;
  /** Where it listens, for people. */
  readonly address: string;
  close?(): Promise<void>;
}

interface Inspected {
  readonly Id: string;
  readonly Name: string;
  readonly State: {
    readonly Status: string;
    readonly Running: boolean;
    readonly ExitCode: number;
    readonly OOMKilled: boolean;
    readonly Pid: number;
  };
  readonly Config: { readonly Labels: Readonly<Record<string, string>> | null };
}
interface Listed {
  readonly Id: string;
  readonly Names: readonly string[];
  readonly State: string;
  readonly Labels: Readonly<Record<string, string>> | null;
}
interface Info {
  readonly MemoryLimit: boolean;
  readonly PidsLimit: boolean;
  readonly CpuCfsQuota: boolean;
  readonly SecurityOptions: readonly string[] | null;
  readonly OperatingSystem?: string;
}
interface Version {
  readonly Version: string;
  readonly Components?: readonly { readonly Name: string }[];
}
/** From Podman's own API; Docker's has no such answer. */
interface PodmanInfo {
  readonly host?: {
    readonly security?: { readonly rootless?: boolean };
    readonly cgroupControllers?: readonly string[] | null;
  };
}
/** The kind and the abilities of an engine. */
interface Facts {
  readonly version: Version;
  readonly isPodman: boolean;
  readonly isRootless: boolean;
  readonly limits: readonly ("memory_mb" | "pids" | "cpus")[];
}
interface ExecInspected {
  readonly Running: boolean;
  readonly ExitCode: number | null;
  readonly Pid: number;
}
interface Stats {
  readonly cpu_stats: CpuStats;
  readonly precpu_stats: CpuStats;
  readonly memory_stats: { readonly usage?: number };
  readonly pids_stats: { readonly current?: number };
}
interface CpuStats {
  readonly cpu_usage?: { readonly total_usage?: number };
  readonly system_cpu_usage?: number;
  readonly online_cpus?: number;
}

/** In the environment of a command and of all that it starts. */
const EXEC_MARK = "OCTANT_EXEC";
const EXIT_PAUSE_MS = 10;
const LISTEN_PATIENCE_MS = 30_000;
/** A row of the kernel's table; nothing else listens in a container that has just started. */
const LISTENS = " 0A ";
const EXIT_PATIENCE_MS = 5_000;
const SECOND_MS = 1_000;
const NOT_MODIFIED = 304;
const NOT_FOUND = 404;

/** Containers of an engine that speaks Docker's API: Podman or Docker, on this machine. */
export function createDockerEngine({ connect, address, close }: DockerEngineOptions): ContainerEngine {
  const api = createDockerApi(connect);
  const json = async <T>(path: string): Promise<T> => {
    const found = await api.json<T>("GET", path);
    if (found !== undefined) return found;
    throw new ToolError("UPSTREAM_ERROR", `the container engine gave no answer to ${path}`, {});
  };
  // Podman asks the package manager for them, which takes a second.
  let facts: Promise<Facts> | undefined;
  const factsOf = () => {
    facts ??= readFacts().catch((cause: unknown) => {
      facts = undefined;
      throw cause;
    });
    return facts;
  };
  const readFacts = async (): Promise<Facts> => {
    const [version, info] = await Promise.all([json<Version>("/version"), json<Info>("/info")]);
    const podman = isPodman(version) ? await orUndefined(json<PodmanInfo>(PODMAN_INFO)) : undefined;
    return toFacts(version, info, podman);
  };
  const orUndefined = async <T>(work: Promise<T>): Promise<T | undefined> => {
    try {
      return await work;
    } catch (cause) {
      if (cause instanceof ToolError && cause.code === "NOT_FOUND") return undefined;
      throw cause;
    }
  };
  const inspect = (id: string) => orUndefined(json<Inspected>(`/containers/${id}/json`));
  /** Files of the hub's user must be that user's in a container, whose root is someone else in a rootless engine. */
  const userOf = ({ isRootless }: Facts): string =>
    isRootless ? "0:0" : `${process.getuid?.() ?? 0}:${process.getgid?.() ?? 0}`;
  /** Commands find the way to the proxy only when the main process listens. */
  const listening = async (id: string): Promise<void> => {
    const deadline = performance.now() + LISTEN_PATIENCE_MS;
    for (;;) {
      const { State } = (await inspect(id)) ?? {};
      if (!State?.Running) return;
      if (attempt(() => readFileSync(`/proc/${State.Pid}/net/tcp`, "utf8"))?.includes(LISTENS)) return;
      if (performance.now() > deadline)
        throw new ToolError("UPSTREAM_ERROR", "the way to the proxy does not open in the container", {});
      await delay(EXIT_PAUSE_MS);
    }
  };
  const exitCodeOf = async (exec: string): Promise<number | null> => {
    const deadline = performance.now() + EXIT_PATIENCE_MS;
    for (;;) {
      // Podman closes the stream shortly before it stores the exit code.
      const found = await orUndefined(json<ExecInspected>(`/exec/${exec}/json`));
      if (!found) return null;
      if (!found.Running) return found.ExitCode;
      if (performance.now() > deadline) return null;
      await delay(EXIT_PAUSE_MS);
    }
  };
  const engine: ContainerEngine = {
    async status() {
      try {
        return toStatus(await factsOf(), address);
      } catch (cause) {
        if (!(cause instanceof ToolError)) throw cause;
        return { name: "docker", available: false, images: true, detail: cause.message, enforces: [] };
      }
    },
    async create(spec) {
      const user = userOf(await factsOf());
      const machine = toMachineImage(user);
      if (spec.image === undefined) await ensureMachineImage(engine, machine);
      const body = toCreateRequest(spec, { user, machine });
      const created = await api.json<{ Id: string }>("POST", "/containers/create", {
        query: { name: spec.name },
        body,
      });
      if (created) return created.Id;
      throw new ToolError("UPSTREAM_ERROR", "the container engine created nothing", {});
    },
    async start(id) {
      await api.json("POST", `/containers/${id}/start`, { also: [NOT_MODIFIED] });
      const started = await inspect(id);
      if (started?.Config.Labels?.[FORWARDER_LABEL] !== undefined) await listening(id);
    },
    async stop(id, graceMs) {
      const query = { t: Math.ceil(graceMs / SECOND_MS) };
      await api.json("POST", `/containers/${id}/stop`, { query, also: [NOT_MODIFIED, NOT_FOUND] });
    },
    async remove(id) {
      await api.json("DELETE", `/containers/${id}`, { query: { force: true, v: true }, also: [NOT_FOUND] });
    },
    async inspect(id) {
      const found = await inspect(id);
      return found && toState(found);
    },
    async list(labels) {
      const label = Object.entries(labels).map(([name, value]) => `${name}=${value}`);
      const query = { all: true, filters: JSON.stringify({ label }) };
      const found = (await api.json<readonly Listed[]>("GET", "/containers/json", { query })) ?? [];
      return found.map(({ Id, Names, State, Labels }) => ({
        id: Id,
        name: withoutSlash(Names[0] ?? Id),
        state: stateOf(State),
        labels: Labels ?? {},
      }));
    },
    async exec(id, { argv, cwd, env = {} }): Promise<ExecProcess> {
      const container = await inspect(id);
      if (!container) throw new ToolError("NOT_FOUND", `there is no container '${id}'`, { id });
      const { Status } = container.State;
      if (Status !== "running") throw notRunning(Status);
      const mark = newHandle("exec", Date.now());
      const made = await api.json<{ Id: string }>("POST", `/containers/${id}/exec`, {
        body: {
          AttachStdin: true,
          AttachStdout: true,
          AttachStderr: true,
          Tty: false,
          Cmd: argv,
          Env: toEnv({ ...env, [EXEC_MARK]: mark }),
          ...(cwd !== undefined && { WorkingDir: cwd }),
        },
      });
      const exec = made?.Id ?? "";
      const stream = await api.hijack(`/exec/${exec}/start`, { Detach: false, Tty: false });
      stream.on("error", () => {});
      const { stdout, stderr } = demultiplex(stream);
      const closed = new Promise<void>((resolve) => stream.once("close", resolve));
      const exited = closed.then(() => exitCodeOf(exec));
      if ((await factsOf()).isPodman) void exited.then(() => endMonitor(exec)).catch(() => {});
      return {
        stdin: stream,
        stdout,
        stderr,
        exited,
        async kill() {
          const found = await orUndefined(json<ExecInspected>(`/exec/${exec}/json`));
          // The engine cannot end a command, but the processes are of the hub's user and on its machine.
          if (found?.Running && found.Pid > 0)
            await endTree(
              { leaders: [found.Pid], mark: `${EXEC_MARK}=${mark}` },
              { signal: "SIGKILL", graceMs: 0 },
            );
          stream.destroy();
        },
      };
    },
    async logs(id, { tail, since_ms }) {
      const query = {
        stdout: true,
        stderr: true,
        timestamps: true,
        tail,
        ...(since_ms !== undefined && { since: (since_ms / SECOND_MS).toFixed(3) }),
      };
      const { stdout, stderr } = demultiplex(await api.stream("GET", `/containers/${id}/logs`, { query }));
      return (await Promise.all([text(stdout), text(stderr)])).join("");
    },
    async stats(id) {
      const { isRootless, limits } = await factsOf();
      // Without them Podman reports the memory of the machine and no processes.
      if (isRootless && !limits.includes("memory_mb"))
        return {
          not_counted:
            "a rootless engine needs control groups to count what a container uses; start the hub where its user has them: systemd-run --user --scope -p Delegate=yes octant hub",
        };
      const query = { stream: false };
      const found = await api.json<Stats>("GET", `/containers/${id}/stats`, { query });
      return {
        cpu_percent: found ? toPercent(found) : 0,
        memory_bytes: found?.memory_stats.usage ?? 0,
        pids: found?.pids_stats.current ?? 0,
      };
    },
    async hits(id) {
      const { State } = (await inspect(id)) ?? {};
      const groups = State?.Running && State.Pid > 0 ? groupsOf(State.Pid) : undefined;
      // The counters end with the container; what killed it is left.
      return groups ? readHits(groups) : { memory: State?.OOMKilled ? 1 : 0, pids: 0 };
    },
    hasImage: async (image) =>
      (await orUndefined(json(`/images/${encodeURIComponent(image)}/json`))) !== undefined,
    async build({ tag, context, containerfile, buildArgs = {}, target, network }, onLine, signal) {
      const query = {
        t: tag,
        dockerfile: containerfile,
        buildargs: JSON.stringify(buildArgs),
        target,
        ...(network === "none" && { networkmode: "none" }),
        rm: true,
        forcerm: true,
      };
      await followMessages(await api.stream("POST", "/build", { query, archive: context, signal }), onLine);
    },
    async importImage(image, archive, signal) {
      // Podman ignores a tag of its own.
      const query = { fromSrc: "-", repo: image };
      await followMessages(await api.stream("POST", "/images/create", { query, archive, signal }), () => {});
    },
    async pull(image, onLine, signal) {
      const [fromImage, tag] = splitTag(image);
      const answer = await api.stream("POST", "/images/create", { query: { fromImage, tag }, signal });
      await followMessages(answer, onLine);
    },
    async close() {
      await close?.();
    },
  };
  return engine;
}

const PODMAN_INFO = "/libpod/info";
const CONTROLLERS = { memory_mb: "memory", pids: "pids", cpus: "cpu" } as const;

function toFacts(version: Version, info: Info, podman: PodmanInfo | undefined): Facts {
  const isRootless = podman?.host?.security?.rootless ?? info.SecurityOptions?.some(saysRootless) ?? false;
  const told = { memory_mb: info.MemoryLimit, pids: info.PidsLimit, cpus: info.CpuCfsQuota };
  // A rootless Podman claims limits whose control groups it may not use.
  const own = isRootless && podman ? (podman.host?.cgroupControllers ?? []) : undefined;
  const limits = (["memory_mb", "pids", "cpus"] as const).filter(
    (limit) => told[limit] && (own?.includes(CONTROLLERS[limit]) ?? true),
  );
  return { version, isPodman: isPodman(version), isRootless, limits };
}

function toStatus(
  { version: found, isPodman: podman, isRootless, limits }: Facts,
  address: string,
): EngineStatus {
  const { Version: version } = found;
  const title = podman ? "Podman" : "Docker";
  const user = isRootless ? "rootless" : "as root";
  return {
    name: podman ? "podman" : "docker",
    available: true,
    images: true,
    version,
    detail: `${title} ${version} (${user}, ${address}): own processes, mounts, network and files, a read-only root, no capabilities, the engine's seccomp filter`,
    enforces: [...limits, "disk_mb", "network:none", "network:allow", "network:on"],
  };
}

const isPodman = ({ Components = [] }: Version): boolean =>
  Components.some(({ Name }) => Name.startsWith("Podman"));

const saysRootless = (option: string): boolean => option.includes("rootless");

const withoutSlash = (name: string): string => name.replace(/^\//, "");

const stateOf = (status: string): ContainerState["state"] =>
  status === "running" || status === "created" ? status : "stopped";

const toState = ({ Id, Name, State, Config }: Inspected): ContainerState => ({
  id: Id,
  name: withoutSlash(Name),
  state: stateOf(State.Status),
  labels: Config.Labels ?? {},
  ...(State.Status === "exited" && { exit_code: State.ExitCode }),
});

function toPercent({ cpu_stats, precpu_stats }: Stats): number {
  const used = (cpu_stats.cpu_usage?.total_usage ?? 0) - (precpu_stats.cpu_usage?.total_usage ?? 0);
  const passed = (cpu_stats.system_cpu_usage ?? 0) - (precpu_stats.system_cpu_usage ?? 0);
  return passed > 0 ? Math.round((used / passed) * (cpu_stats.online_cpus ?? 1) * 1_000) / 10 : 0;
}

/** The last colon begins the tag unless it is the port of a registry. */
function splitTag(image: string): [string, string] {
  const [, repository = image, tag = "latest"] = /^(.+?)(?::([^:/]+))?$/.exec(image) ?? [];
  return [repository, tag];
}
