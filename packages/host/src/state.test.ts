import { spawn } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { ToolError } from "@octant/core";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openStateFolder } from "./state.ts";

let home: string;
let warnings: string[];

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "octant-state-"));
  warnings = [];
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

const open = (env: NodeJS.ProcessEnv = { HOME: home }, roots = ["/work/My Project"]) =>
  openStateFolder({ roots, env, warn: (message) => warnings.push(message) });
const modeOf = (path: string) => statSync(path).mode & 0o777;

test("the folder is below the home, has a readable name and is private", () => {
  const { path } = open();
  expect(dirname(path)).toBe(join(home, ".local/state/octant"));
  expect(basename(path)).toMatch(/^My-Project-[0-9a-f]{16}$/);
  expect([modeOf(path), modeOf(dirname(path))]).toEqual([0o700, 0o700]);
  expect(warnings).toEqual([]);
});

test("XDG_STATE_HOME is obeyed when it is absolute", () => {
  expect(open({ HOME: home, XDG_STATE_HOME: join(home, "x") }).path).toContain(join(home, "x/octant/"));
  expect(open({ HOME: home, XDG_STATE_HOME: "relative" }).path).toContain(".local/state/octant");
});

test("the same roots share a folder, other roots have another", () => {
  expect(open().path).toBe(open().path);
  const names = [["/a/x"], ["/b/x"], ["/a/x", "/b/x"], ["/"]].map((roots) => open(undefined, roots).path);
  expect(new Set(names).size).toBe(names.length);
});

test("the order of the roots does not matter, and all workspaces share one base", () => {
  const [one, other] = [open(undefined, ["/a", "/b"]), open(undefined, ["/b", "/a"])];
  expect(one.path).toBe(other.path);
  expect([one.base, open().base]).toEqual([dirname(one.path), dirname(one.path)]);
});

test("subfolders are created, private too", () => {
  const blobs = open().folder("blobs");
  expect(modeOf(blobs)).toBe(0o700);
});

test("a home that cannot be used falls back to a private temp folder with a warning", () => {
  writeFileSync(join(home, "file"), "");
  const { path } = open({ HOME: join(home, "file") });
  expect(path.startsWith(join(tmpdir(), "octant-"))).toBe(true);
  expect(modeOf(dirname(path))).toBe(0o700);
  expect(warnings).toEqual([
    expect.stringMatching(/cannot be used: it cannot be created or written \(E[A-Z]+\); the undo history/),
  ]);
  rmSync(path, { recursive: true });
});

test("a folder that others can write to is not used", () => {
  const shared = join(home, ".local/state/octant");
  mkdirSync(shared, { recursive: true });
  chmodSync(shared, 0o777);
  const { path } = open();
  expect(path).not.toContain(home);
  expect(warnings).toEqual([expect.stringContaining("chmod go-w")]);
  rmSync(path, { recursive: true });
});

test("a folder that others can only read is made private", () => {
  const shared = join(home, ".local/state/octant");
  mkdirSync(shared, { recursive: true, mode: 0o755 });
  open();
  expect(modeOf(shared)).toBe(0o700);
});

test("a link of our own is followed", () => {
  mkdirSync(join(home, "elsewhere"), { mode: 0o700 });
  mkdirSync(join(home, ".local/state"), { recursive: true });
  symlinkSync(join(home, "elsewhere"), join(home, ".local/state/octant"));
  open();
  expect(readdirSync(join(home, "elsewhere"))).toHaveLength(1);
});

test("the secret is stable and private, and is replaced when it was torn", () => {
  const state = open();
  const secret = state.secret();
  expect(secret).toHaveLength(32);
  expect(open().secret()).toEqual(secret);
  expect(modeOf(join(state.path, "secret"))).toBe(0o600);
  writeFileSync(join(state.path, "secret"), "torn");
  expect(state.secret()).toHaveLength(32);
  expect(open().secret()).toEqual(state.secret());
  expect(readdirSync(state.path)).toEqual(["secret"]);
});

test("an unreadable secret is reported as such, with what to do", () => {
  const state = open();
  mkdirSync(join(state.path, "secret"));
  expect(() => state.secret()).toThrow(ToolError);
  expect(() => state.secret()).toThrow(/EISDIR.*move it away/);
});

test("processes that start together agree on the secret", async () => {
  const script = `
    const { openStateFolder } = await import(${JSON.stringify(join(import.meta.dirname, "state.ts"))});
    process.stdin.once("data", () => {
      const state = openStateFolder({ roots: ["/w"], env: { HOME: ${JSON.stringify(home)} }, warn() {} });
      process.stdout.write(Buffer.from(state.secret()).toString("hex"));
      process.exit();
    });
    process.stderr.write("ready");`;
  const children = Array.from({ length: 4 }, () =>
    spawn(process.execPath, ["--input-type=module", "-e", script], { stdio: "pipe" }),
  );
  await Promise.all(children.map((child) => new Promise((ready) => child.stderr.once("data", ready))));
  const secrets = children.map(async (child) => {
    let out = "";
    for await (const part of child.stdout) out += part;
    return out;
  });
  for (const child of children) child.stdin.write("go");
  const seen = await Promise.all(secrets);
  expect(new Set(seen).size).toBe(1);
  expect(seen[0]).toMatch(/^[0-9a-f]{64}$/);
  expect(existsSync(join(home, ".local/state/octant"))).toBe(true);
});
