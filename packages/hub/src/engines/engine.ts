import type { Readable, Writable } from "node:stream";
import { ToolError } from "@octant/core";

export const NETWORKS = ["none", "allow", "on"] as const;
/** `allow`: only the named hosts, through the hub's proxy. */
export type ContainerNetwork = (typeof NETWORKS)[number];

/** The most that a container may use; no limit where a field is absent. */
export interface ContainerLimits {
  readonly cpus?: number | undefined;
  readonly memory_mb?: number | undefined;
  readonly pids?: number | undefined;
  readonly disk_mb?: number | undefined;
}

export interface Mount {
  readonly source: string;
  readonly target: string;
  readonly readOnly: boolean;
}

/** A container before it exists. */
export interface ContainerSpec {
  readonly name: string;
  /** Absent: the programs of the hub's machine, which are mounted read-only. */
  readonly image?: string | undefined;
  readonly mounts: readonly Mount[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  readonly network: ContainerNetwork;
  /** With the network `allow`: a command that starts the one behind it beside a way to the hub's proxy. */
  readonly forwarder?: readonly string[] | undefined;
  readonly limits: ContainerLimits;
  /** Found again by these after a restart of the hub. */
  readonly labels: Readonly<Record<string, string>>;
}

export const CONTAINER_STATES = ["created", "running", "stopped"] as const;

export interface ContainerState {
  readonly id: string;
  readonly name: string;
  readonly state: (typeof CONTAINER_STATES)[number];
  readonly labels: Readonly<Record<string, string>>;
  /** The exit code of the last end; absent while it runs. */
  readonly exit_code?: number | undefined;
}

/** How often the kernel enforced a limit since the container started. */
export interface LimitHits {
  /** Processes killed because the container needed more memory. */
  readonly memory: number;
  /** Processes that could not be started. */
  readonly pids: number;
}

export const notRunning = (actual: string) =>
  new ToolError("CONFLICT", "the container does not run; container.start starts it", {
    expected: "running",
    actual,
  });

export interface ContainerStats {
  readonly cpu_percent: number;
  readonly memory_bytes: number;
  readonly pids: number;
}
/** Why an engine cannot count here, and how it could. */
export interface NotCounted {
  readonly not_counted: string;
}

export interface ExecSpec {
  readonly argv: readonly string[];
  readonly cwd?: string;
  /** The workspace that it is about; workspaces may be on different hosts. */
  readonly workspace_id?: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** A command in a container. */
export interface ExecProcess {
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** null: a signal ended it, or the container is gone. */
  readonly exited: Promise<number | null>;
  kill(): Promise<void>;
  /** Absent on the hub's own machine. */
  readonly place?: PlaceOfExec | undefined;
}

/** Where a command runs when hosts run containers. */
export interface PlaceOfExec {
  readonly host: string;
  /** Changes whenever a host takes the workspace. */
  readonly lease_id: string;
  /** Aborted when the host no longer has it. */
  readonly lost: AbortSignal;
  /** Describes the loss when the workspace came to this host; undefined when nothing was lost. */
  readonly loss?: string | undefined;
}

export interface ImageSpec {
  /** The name that it gets. */
  readonly tag: string;
  /** A tar archive of the files that the build may copy. */
  readonly context: Readable;
  /** The path of the Containerfile within `context`. */
  readonly containerfile: string;
  readonly buildArgs?: Readonly<Record<string, string>> | undefined;
  /** The stage to build; the last one when absent. */
  readonly target?: string | undefined;
  readonly network: "none" | "on";
}

export type OnLine = (line: string) => void;

export interface EngineStatus {
  readonly name: string;
  readonly available: boolean;
  readonly version?: string | undefined;
  /** The confinement of a container, for people; or what is missing and how to get it. */
  readonly detail: string;
  /** Whether containers can be made of images. */
  readonly images: boolean;
  /** The limits that it enforces; a project that asks for others is refused. */
  readonly enforces: readonly (keyof ContainerLimits | `network:${ContainerNetwork}`)[];
}

/** Runs containers: a Docker-compatible socket, or the sandbox of this machine. */
export interface ContainerEngine {
  status(): Promise<EngineStatus>;
  create(spec: ContainerSpec): Promise<string>;
  start(id: string): Promise<void>;
  /** Asks it to end, and kills it after the time. */
  stop(id: string, graceMs: number): Promise<void>;
  /** Nothing happens when it is gone. */
  remove(id: string): Promise<void>;
  inspect(id: string): Promise<ContainerState | undefined>;
  /** Those with all of these labels. */
  list(labels: Readonly<Record<string, string>>): Promise<readonly ContainerState[]>;
  exec(id: string, spec: ExecSpec): Promise<ExecProcess>;
  logs(
    id: string,
    options: { readonly tail: number; readonly since_ms?: number | undefined },
  ): Promise<string>;
  stats(id: string): Promise<ContainerStats | NotCounted>;
  hits(id: string): Promise<LimitHits>;
  /** Whether this image can be used without a build or a download. */
  hasImage(image: string): Promise<boolean>;
  build(spec: ImageSpec, onLine: OnLine, signal: AbortSignal): Promise<void>;
  /** Makes an image of a tar archive of its files. */
  importImage(image: string, archive: Readable, signal: AbortSignal): Promise<void>;
  /** Downloads an image from its registry. */
  pull(image: string, onLine: OnLine, signal: AbortSignal): Promise<void>;
  close(): Promise<void>;
}
