import { execFileSync } from "node:child_process";

/** Whether this process may create network namespaces. */
export function canCreateNetworks(): boolean {
  try {
    const name = `octp${process.pid % 10_000}`;
    execFileSync("ip", ["netns", "add", name], { stdio: "ignore" });
    execFileSync("ip", ["netns", "del", name], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

const ip = (...args: readonly string[]) => void execFileSync("ip", args, { stdio: "ignore" });

/** Machines on a network: namespaces that reach only the address of this one, over links that can be cut. */
export function createNetworks(count: number) {
  const id = process.pid % 10_000;
  const bridge = `octb${id}`;
  const subnet = `10.213.${process.pid % 250}`;
  const names = Array.from({ length: count }, (_, n) => `oct${id}n${n}`);
  ip("link", "add", bridge, "type", "bridge");
  ip("addr", "add", `${subnet}.1/24`, "dev", bridge);
  ip("link", "set", bridge, "up");
  for (const [n, name] of names.entries()) {
    ip("netns", "add", name);
    ip("link", "add", `v${name}`, "type", "veth", "peer", "name", "eth0", "netns", name);
    ip("link", "set", `v${name}`, "master", bridge, "up");
    ip("-n", name, "addr", "add", `${subnet}.${n + 2}/24`, "dev", "eth0");
    ip("-n", name, "link", "set", "eth0", "up");
    ip("-n", name, "link", "set", "lo", "up");
  }
  return {
    address: `${subnet}.1`,
    /** The command that runs another one on this machine. */
    enter: (n: number): readonly string[] => ["ip", "netns", "exec", names[n] ?? ""],
    cut: (n: number) => ip("link", "set", `v${names[n]}`, "down"),
    join: (n: number) => ip("link", "set", `v${names[n]}`, "up"),
    [Symbol.dispose]() {
      for (const name of names) {
        ip("netns", "del", name);
      }
      ip("link", "del", bridge);
    },
  };
}
