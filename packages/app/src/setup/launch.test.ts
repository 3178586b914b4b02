import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { chooseLaunch, typedCommand, whatStarts } from "./launch.ts";
import type { Machine } from "./places.ts";

const base = realpathSync(mkdtempSync(join(tmpdir(), "octant-launch-")));
afterAll(() => rmSync(base, { recursive: true, force: true }));

function put(path: string): string {
  const file = join(base, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, "");
  return file;
}

const node = put("cellar/node/24.1.0/bin/node");
const npx = put("brew/bin/npx");
symlinkSync(node, join(base, "brew/bin/node"));
const global = put("lib/node_modules/@octant/cli/bin/octant.js");
const cached = put("home/.npm/_npx/abc/node_modules/@octant/cli/bin/octant.js");
const checkout = put("checkout/packages/cli/bin/octant.js");
put("checkout/packages/cli/src/main.ts");

const machine: Machine = {
  platform: "linux",
  env: { PATH: join(base, "brew/bin") },
  home: join(base, "home"),
  cwd: base,
};
const lasting = join(base, "brew/bin/node");

test.each([
  ["an install, for oneself", global, "user", { command: lasting, args: [global, "serve"] }],
  [
    "an install, for all of a project",
    global,
    "project",
    { command: "npx", args: ["-y", "@octant/cli", "serve"] },
  ],
  ["npx's cache", cached, "user", { command: npx, args: ["-y", "@octant/cli", "serve"] }],
  ["a checkout", checkout, "user", { command: lasting, args: [checkout, "serve"] }],
  [
    "a checkout, for a project",
    checkout,
    "project",
    { command: "npx", args: ["-y", "@octant/cli", "serve"] },
  ],
] as const)("%s is registered by what lasts", (_, launcher, scope, launch) => {
  expect(chooseLaunch({ launcher, node }, scope, machine)).toEqual(launch);
});

test("on Windows npx is a script, so the shell starts it", () => {
  const launch = chooseLaunch({ launcher: cached, node }, "user", { ...machine, platform: "win32" });
  expect(launch).toEqual({ command: "cmd", args: ["/c", "npx", "-y", "@octant/cli", "serve"] });
});

test.each(["run/fnm_multishells/1_2/bin", "session/bin", "project/node_modules/.bin"])(
  "a node in %s is gone with the shell, so the real one is registered",
  (folder) => {
    mkdirSync(join(base, folder), { recursive: true });
    symlinkSync(node, join(base, folder, "node"));
    const env = { PATH: join(base, folder), XDG_RUNTIME_DIR: join(base, "session") };
    expect(chooseLaunch({ launcher: global, node }, "user", { ...machine, env }).command).toBe(node);
  },
);

test("an entry is recognised by its command, with any flags", () => {
  const install = { launcher: global, node };
  const flags = ["--mode", "inspect"];
  const whatOf = (command: string, ...args: string[]) =>
    whatStarts({ command, args: [...args, ...flags] }, install, machine);
  expect(whatOf(lasting, global, "serve")).toBe("this");
  expect(whatOf("npx", "-y", "@octant/cli", "serve")).toBe("npx");
  expect(whatOf("npx", "-y", "@octant/other", "serve")).toBe("other");
  expect(whatOf("sh", global, "serve")).toBe("other");
});

test("the suggested command is on the person's PATH, or found by npx", () => {
  const inScript = { ...machine, env: { PATH: join(base, "checkout/node_modules/.bin") } };
  put("checkout/node_modules/.bin/octant");
  chmodSync(join(base, "checkout/node_modules/.bin/octant"), 0o755);
  expect(typedCommand(inScript)).toBe("npx -y @octant/cli");
  chmodSync(put("usr/bin/octant"), 0o755);
  expect(typedCommand({ ...machine, env: { PATH: join(base, "usr/bin") } })).toBe("octant");
});
