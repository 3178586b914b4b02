import { readdirSync, readFileSync } from "node:fs";
import { attempt } from "@octant/core";

export interface ProcessUse {
  readonly memoryMb: number;
  readonly cpuMs: number;
}

const TICKS_PER_SECOND = 100;
const KILOBYTES = 1024;

/** What a process uses, and what all of its descendants use: memory without what they share, and processor time so far. */
export function useOf(pid: number): { readonly own: ProcessUse; readonly below: ProcessUse } {
  const all = readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => attempt(() => readProcess(Number(name))) ?? []);
  const found = all.filter((one) => one.pid === pid);
  const below: typeof all = [];
  for (let parents = new Set([pid]); parents.size > 0; ) {
    const children = all.filter(({ parent }) => parents.has(parent));
    below.push(...children);
    parents = new Set(children.map((one) => one.pid));
  }
  return { own: sum(found), below: sum(below) };
}

function readProcess(pid: number) {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  // The name may have spaces and brackets.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const [parent, ...times] = [1, 11, 12, 13, 14].map((at) => Number(fields[at]));
  const pss = /^Pss: +(\d+)/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, "utf8"))?.[1];
  const ticks = times.reduce((total, one) => total + one, 0);
  return {
    ...{ pid, parent: parent ?? 0 },
    memoryMb: Number(pss ?? 0) / KILOBYTES,
    cpuMs: (ticks * 1_000) / TICKS_PER_SECOND,
  };
}

const sum = (all: readonly ProcessUse[]): ProcessUse => ({
  memoryMb: all.reduce((total, one) => total + one.memoryMb, 0),
  cpuMs: all.reduce((total, one) => total + one.cpuMs, 0),
});
