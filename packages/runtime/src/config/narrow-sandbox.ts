import { resolve } from "node:path";
import { type NetworkRule, SANDBOX_LEVELS, SANDBOX_MODES, type SandboxSettings } from "@octant/host";
import { isInside, realFuture } from "./places.ts";
import type { Settings } from "./schema.ts";

type GivenSandbox = NonNullable<Settings["sandbox"]>;

/** With the real paths of folders. One in the workspace that is a link out of it is left out: a project could plant it. */
export function withRealPaths(
  { allowed_paths, ...given }: GivenSandbox,
  { root, roots }: { readonly root: string; readonly roots: readonly string[] },
): GivenSandbox {
  if (!allowed_paths) return given;
  const isOurs = (path: string) => roots.some((one) => isInside(one, path));
  const real = allowed_paths.flatMap((path) => {
    const named = resolve(root, path);
    const place = realFuture(named);
    return place === undefined || (isOurs(named) && !isOurs(place)) ? [] : [place];
  });
  return { ...given, allowed_paths: real };
}

/** The sandbox settings narrowed by a project: never more than `before` allows. */
export function narrowSandbox(
  given: GivenSandbox,
  before: SandboxSettings,
  roots: readonly string[],
): SandboxSettings {
  const mode = given.mode ? stricterOf(SANDBOX_MODES, given.mode, before.mode) : before.mode;
  const narrowed = { ...before, mode };
  if (given.allowed_paths) {
    const left = overlap(given.allowed_paths, writable(before, roots));
    // Here the roots can be written anyway; the stricter mode has to name them.
    narrowed.allowed_paths = mode === "workspace" ? left.filter((path) => !roots.includes(path)) : left;
  }
  if (given.network !== undefined) narrowed.network = narrowNetwork(given.network, before.network);
  if (given.hide_home !== undefined) narrowed.hide_home = before.hide_home || given.hide_home;
  if (given.require) narrowed.require = strongerOf(given.require, before.require);
  for (const limit of ["memory_bytes", "max_processes"] as const) {
    const value = given[limit];
    if (value !== undefined) narrowed[limit] = Math.min(value, before[limit] ?? value);
  }
  return narrowed;
}

/** The folders that can be written so far, with all that is in them. */
function writable({ mode, allowed_paths }: SandboxSettings, roots: readonly string[]): readonly string[] {
  if (mode === "off") return ["/"];
  return mode === "workspace" ? [...roots, ...allowed_paths] : allowed_paths;
}

/** The folders covered by both lists. */
function overlap(some: readonly string[], others: readonly string[]): string[] {
  const inner = some.filter((path) => others.some((other) => isInside(other, path)));
  const outer = others.filter((path) => some.some((other) => isInside(other, path)));
  return [...new Set([...inner, ...outer])];
}

const stricterOf = <T>(fromFree: readonly T[], one: T, other: T): T =>
  fromFree.indexOf(one) > fromFree.indexOf(other) ? one : other;

const strongerOf = (one: SandboxSettings["require"], other: SandboxSettings["require"]) =>
  SANDBOX_LEVELS.find((level) => level === one || level === other);

/** The intersection of both rules. */
export function narrowNetwork(one: NetworkRule, other: NetworkRule): NetworkRule {
  if (one === "on") return other;
  if (other === "on") return one;
  if (one === "off" || other === "off") return "off";
  if (one === "loopback") return other === "loopback" ? one : onlyHosts(other.filter(isLoopback));
  if (other === "loopback") return onlyHosts(one.filter(isLoopback));
  return onlyHosts([
    ...one.filter((host) => other.some((wider) => covers(wider, host))),
    ...other.filter((host) => one.some((wider) => covers(wider, host))),
  ]);
}

const onlyHosts = (hosts: readonly string[]): NetworkRule =>
  hosts.length > 0 ? [...new Set(hosts.map((host) => host.toLowerCase()))] : "off";

const isLoopback = (host: string): boolean => LOOPBACK.test(host);
const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])(:\d+)?$/i;

// The default ports of a host without one.
const WEB_PORTS: readonly (string | undefined)[] = ["80", "443"];

/** Whether every connection that `host` means is also meant by `wider`. */
function covers(wider: string, host: string): boolean {
  const [outer, inner] = [parseHost(wider), parseHost(host)];
  if (outer.port !== inner.port && !(outer.port === undefined && WEB_PORTS.includes(inner.port)))
    return false;
  if (outer.name === inner.name) return true;
  return outer.name.startsWith("*.") && inner.name.endsWith(outer.name.slice(1));
}

function parseHost(host: string): { name: string; port: string | undefined } {
  const [, name = host, port] = /^(.*?)(?::(\d+))?$/.exec(host) ?? [];
  return { name: name.toLowerCase(), port };
}
