import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { detectContainer } from "./container.ts";

test.each([
  ["docker", ".dockerenv", "", {}],
  ["podman", "run/.containerenv", "", {}],
  ["docker", "proc/1/cgroup", "0::/docker/0123\n", {}],
  ["podman", "proc/1/cgroup", "0::/machine.slice/libpod-0123.scope\n", {}],
  ["kubernetes", "proc/1/cgroup", "0::/kubepods/burstable/pod1\n", {}],
  ["kubernetes", "x", "", { KUBERNETES_SERVICE_HOST: "10.0.0.1" }],
  ["container", "proc/1/cgroup", "0::/lxc/web\n", {}],
  [null, "proc/1/cgroup", "0::/init.scope\n", {}],
] as const)("%s is known by %s %j %j", (expected, file, content, env) => {
  const root = mkdtempSync(join(tmpdir(), "octant-container-"));
  mkdirSync(dirname(join(root, file)), { recursive: true });
  writeFileSync(join(root, file), content);
  expect(detectContainer(env, `${root}/`)).toBe(expected);
  rmSync(root, { recursive: true });
});
