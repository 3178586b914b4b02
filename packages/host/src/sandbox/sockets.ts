import { readFileSync } from "node:fs";
import { attempt } from "@octant/core";

/** The socket files that programs of this machine listen at; none where the system does not list them. */
export function listeningSockets(): string[] {
  const table = attempt(() => readFileSync("/proc/net/unix", "utf8")) ?? "";
  const paths = table.split("\n").flatMap((line) => {
    const [, flags, path = ""] = LINE.exec(line) ?? [];
    return path.startsWith("/") && (Number.parseInt(flags ?? "0", 16) & ACCEPTS) !== 0 ? [path] : [];
  });
  return [...new Set(paths)].sort();
}

/** `0000000000000000: 00000002 00000000 00010000 0001 01 16 /run/x.sock`: the flags are the fourth column. */
const LINE = /^\w+: \w+ \w+ (\w+) \w+ \w+ +\d+ (.+)$/;
const ACCEPTS = 0x10000;
