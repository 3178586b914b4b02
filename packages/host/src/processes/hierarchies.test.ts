import { expect, test } from "vitest";
import { findHierarchies } from "./hierarchies.ts";

/** Files as systems show them. */
const system = (files: Readonly<Record<string, string>>) => (path: string) => files[path] ?? "";

const V2_MOUNT =
  "30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate,memory_recursiveprot\n";
const SCOPE = "/user.slice/user-1000.slice/user@1000.service/app.slice/term.scope";
const DESKTOP = {
  "/proc/self/cgroup": `0::${SCOPE}\n`,
  "/proc/self/mountinfo": V2_MOUNT,
  [`/sys/fs/cgroup${SCOPE}/memory.max`]: "max\n",
  [`/sys/fs/cgroup${SCOPE}/memory.high`]: "max\n",
  [`/sys/fs/cgroup${SCOPE}/pids.max`]: "max\n",
  "/sys/fs/cgroup/user.slice/user-1000.slice/user@1000.service/app.slice/cgroup.subtree_control":
    "cpu memory pids\n",
};

test("on a desktop with version 2 the groups go beside the one that we are in", () => {
  expect(findHierarchies(system(DESKTOP))).toEqual([
    {
      version: 2,
      controllers: ["memory", "pids"],
      own: `/sys/fs/cgroup${SCOPE}`,
      parent: "/sys/fs/cgroup/user.slice/user-1000.slice/user@1000.service/app.slice",
    },
  ]);
});

test("a limit set by others cannot be escaped", () => {
  const limited = { ...DESKTOP, [`/sys/fs/cgroup${SCOPE}/pids.max`]: "512\n" };
  expect(findHierarchies(system(limited))).toEqual([]);
});

test("at the root of version 2 groups go below it", () => {
  const files = {
    "/proc/self/cgroup": "0::/\n",
    "/proc/self/mountinfo": V2_MOUNT,
    "/sys/fs/cgroup/cgroup.subtree_control": "memory\n",
  };
  expect(findHierarchies(system(files))).toEqual([
    { version: 2, controllers: ["memory"], own: "/sys/fs/cgroup", parent: "/sys/fs/cgroup" },
  ]);
});

test("with version 1 each controller has its own place, also where a mount shows only a part", () => {
  const files = {
    "/proc/self/cgroup": "5:pids:/docker/abc\n4:cpu,cpuacct:/\n3:memory:/a b\n1:name=systemd:/\n0::/\n",
    "/proc/self/mountinfo": [
      "40 30 0:35 /docker/abc /sys/fs/cgroup/pids rw - cgroup cgroup rw,pids",
      "41 30 0:36 / /sys/fs/my\\040groups rw - cgroup cgroup rw,memory",
      "42 30 0:37 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu,cpuacct",
      "43 30 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw",
    ].join("\n"),
    "/sys/fs/cgroup/unified/cgroup.subtree_control": "hugetlb\n",
  };
  expect(findHierarchies(system(files))).toEqual([
    { version: 1, controllers: ["pids"], own: "/sys/fs/cgroup/pids", parent: "/sys/fs/cgroup/pids" },
    { version: 1, controllers: ["memory"], own: "/sys/fs/my groups/a b", parent: "/sys/fs/my groups/a b" },
  ]);
});

test("without control groups none are found", () => {
  expect(findHierarchies(system({}))).toEqual([]);
});
