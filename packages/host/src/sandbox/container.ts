import { existsSync, readFileSync } from "node:fs";
import { attempt } from "@octant/core";

export type Container = "docker" | "podman" | "kubernetes" | "container";

/** The container that Octant seems to run in. These signs can be forged, so they are only displayed. */
export function detectContainer(env: NodeJS.ProcessEnv, root = "/"): Container | null {
  if (env["KUBERNETES_SERVICE_HOST"]) return "kubernetes";
  if (existsSync(`${root}run/.containerenv`)) return "podman";
  if (existsSync(`${root}.dockerenv`)) return "docker";
  const groups = attempt(() => readFileSync(`${root}proc/1/cgroup`, "utf8")) ?? "";
  if (groups.includes("kubepods")) return "kubernetes";
  if (groups.includes("libpod")) return "podman";
  if (groups.includes("docker")) return "docker";
  return /\b(?:lxc|containerd|crio)\b/.test(groups) ? "container" : null;
}
