/** How commands are isolated from the machine, in the terms of the settings. */

export const SANDBOX_MODES = ["off", "workspace", "allowlist"] as const;
export type SandboxMode = (typeof SANDBOX_MODES)[number];

/** The strongest first. `sandbox-exec` is for macOS only, the two after `bubblewrap` for Linux. */
export const SANDBOX_LEVELS = ["bubblewrap", "sandbox-exec", "unshare", "path_check"] as const;
export type SandboxLevel = (typeof SANDBOX_LEVELS)[number];

/** Names: only these hosts, each `host`, `*.host` or either with a port; without one, 80 and 443. */
export type NetworkRule = "on" | "off" | "loopback" | readonly string[];

export interface SandboxSettings {
  /** With mode `off`: what confines this process instead, such as a container; for people and models. */
  readonly confined_by?: string | undefined;
  readonly mode: SandboxMode;
  /** workspace: further writable places; allowlist: the only ones. Absolute, or relative to the first root. */
  readonly allowed_paths: readonly string[];
  readonly network: NetworkRule;
  /** Nothing of the person's home but package caches. */
  readonly hide_home: boolean;
  /** A weaker level is SANDBOX_UNAVAILABLE. */
  readonly require?: SandboxLevel;
  readonly memory_bytes?: number;
  readonly max_processes?: number;
}

export const DEFAULT_SANDBOX: SandboxSettings = {
  mode: "workspace",
  allowed_paths: [],
  network: "on",
  hide_home: false,
};

/** Whether commands at this level can do nothing to the rest of the machine. */
export const confines = (level: SandboxLevel | "off"): boolean => !isWeaker(level, "unshare");

/** Whether `level` is weaker than required. */
export const isWeaker = (level: SandboxLevel | "off", required: SandboxLevel): boolean =>
  level === "off" || SANDBOX_LEVELS.indexOf(level) > SANDBOX_LEVELS.indexOf(required);
