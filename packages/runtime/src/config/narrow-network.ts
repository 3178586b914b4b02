import type { NetworkRule } from "@octant/host";

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
