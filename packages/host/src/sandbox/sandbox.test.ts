import { execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { ToolError } from "@octant/core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, test } from "vitest";
import { ESCAPE_PROBES } from "../../testing/sandbox/escape-probes.ts";
import { ESCAPED, toArgv } from "../../testing/sandbox/probe.ts";
import type { AssignedCommand, Outcome } from "../../testing/sandbox/probe-runner.ts";
import { createWorld, identities, type World } from "../../testing/sandbox/world.ts";
import { openStateFolder } from "../state.ts";
import { createSandbox } from "./create-sandbox.ts";
import type { SandboxedCommand } from "./sandbox.ts";
import { DEFAULT_SANDBOX, type SandboxSettings } from "./settings.ts";

const sh = (script: string, more?: Omit<AssignedCommand, "argv">): AssignedCommand => ({
  argv: ["/bin/sh", "-c", script],
  ...more,
});

async function runIn(
  world: World,
  command: AssignedCommand | string,
  settings: Partial<SandboxSettings> = {},
): Promise<Outcome> {
  const commands = [typeof command === "string" ? sh(command) : command];
  const { outcomes } = await world.run({ settings: { ...DEFAULT_SANDBOX, ...settings }, commands });
  return outcomes[0]!;
}

const lacks = (...packages: string[]) => packages.some((name) => inject("missing").includes(name));

const NO_SANDBOX = lacks("bubblewrap");

describe.skipIf(NO_SANDBOX).each(identities())("normal work is possible inside, as $name", ({ uid }) => {
  let world: World;
  beforeAll(async () => {
    world = await createWorld(uid);
  });
  afterAll(() => world[Symbol.asyncDispose]());

  test.skipIf(lacks("gcc"))(
    "npm installs a package from a tarball, with a script that is built",
    async () => {
      const build = `mkdir package && printf '%s' '{"name":"tiny","version":"1.0.0","scripts":{"install":"gcc -o tiny tiny.c"}}' >package/package.json &&
      echo 'int main(void) { return 0; }' >package/tiny.c && tar -czf tiny.tgz package && echo '{"name":"app"}' >package.json &&
      npm install --silent --no-audit ./tiny.tgz && ./node_modules/tiny/tiny && ls node_modules/tiny`;
      const { code, stdout, stderr } = await runIn(world, build);
      expect(stderr).toBe("");
      expect({ code, stdout }).toMatchObject({ code: 0, stdout: expect.stringContaining("tiny.c") });
      expect(existsSync(join(world.ws, "node_modules/tiny/tiny"))).toBe(true);
    },
  );

  test("a process leaves no core file, and opens at most 65,536 files", async () => {
    const { stdout } = await runIn(world, "ulimit -c; ulimit -Hn");
    const [core, files] = stdout.split("\n").map(Number);
    expect({ core, isLimited: files !== undefined && files <= 65_536 }).toEqual({ core: 0, isLimited: true });
  });

  test("git commits, and shows its commit", async () => {
    const commit = `git config --list >/dev/null && git add README && git -c user.name=a -c user.email=a@b commit -qm first && git log --oneline | wc -l`;
    expect(await runIn(world, commit)).toMatchObject({ code: 0, stdout: "1\n" });
  });

  test.skipIf(lacks("cargo"))("cargo builds a crate", async () => {
    const rustup = process.env["RUSTUP_HOME"] ?? join(homedir(), ".rustup");
    const cargo = spawnSync("sh", ["-c", "command -v cargo"], { encoding: "utf8" }).stdout.trim();
    expect(cargo).not.toBe("");
    // A toolchain in the home of root is not for others.
    if (uid !== 0 && cargo.startsWith("/root/")) return;
    const build = `mkdir -p crate/src && cd crate && printf '[package]\\nname = "c"\\nversion = "0.1.0"\\n' >Cargo.toml &&
      echo 'fn main() { println!("built"); }' >src/main.rs && cargo build -q --offline && ./target/debug/c`;
    expect(await runIn(world, sh(build, { env: { RUSTUP_HOME: rustup } }))).toMatchObject({
      code: 0,
      stdout: "built\n",
    });
  });

  test.skipIf(lacks("gcc", "python3-pytest"))("pytest and gcc run", async () => {
    const check = `printf 'def test_it(tmp_path):\\n    (tmp_path / "a").write_text("x")\\n' >test_it.py &&
      /usr/bin/python3 -m pytest -q test_it.py && echo 'int main(void) { return 7; }' >a.c && gcc -o a a.c && ./a`;
    expect(await runIn(world, check)).toMatchObject({ code: 7, stdout: expect.stringContaining("1 passed") });
  });

  test("caches are written for all, temp files and the rest of the home for the workspace alone", async () => {
    const write =
      'for f in ~/.npm/a ~/.cache/a ~/.cargo/registry/a ~/new /tmp/a /var/tmp/a; do echo x >"$f" || exit 1; done';
    expect(await runIn(world, write)).toMatchObject({ code: 0 });
    for (const path of [".npm/a", ".cache/a", ".cargo/registry/a"])
      expect(existsSync(join(world.home, path))).toBe(true);
    expect(existsSync(join(world.home, "new"))).toBe(false);
    const look = "cat ~/new /tmp/a /var/tmp/a ~/notes.txt ~/.npmrc; echo x >>~/notes.txt";
    expect(await runIn(world, look)).toMatchObject({ code: 2, stdout: "x\nx\nx\nplain\nfund=false\n" });
  });

  test("exit codes and variables pass, whatever they are called; output is the command's own", async () => {
    const env = { LD_LIBRARY_PATH: "/nowhere", "odd.name": "a b\nc", SECRET: "s" };
    const script = `import os, sys; print([os.environ[n] for n in ("LD_LIBRARY_PATH", "odd.name", "SECRET")]); sys.exit(42)`;
    const outcome = await runIn(world, { argv: ["/usr/bin/python3", "-c", script], env });
    expect(outcome).toEqual({ code: 42, stdout: "['/nowhere', 'a b\\nc', 's']\n", stderr: "" });
    const { stdout } = await runIn(world, sh("tr '\\0' ' ' </proc/1/cmdline", { env }));
    expect(stdout).not.toContain("SECRET");
    expect(await runIn(world, "kill -TERM $$")).toMatchObject({ code: 143 });
  });

  test("a server on the loopback device is reached, also with the network off", async () => {
    const serve = `/usr/bin/python3 -c '
import socket
s = socket.create_server(("127.0.0.1", 0)); c = socket.create_connection(s.getsockname()); s.accept(); print("served")'`;
    expect(await runIn(world, serve)).toMatchObject({ stdout: "served\n" });
    expect(await runIn(world, serve, { network: "off" })).toMatchObject({ stdout: "served\n" });
  });

  test("allowed paths are writable too; with an allow list they are all that is seen", async () => {
    const allowed_paths = [world.outside];
    expect(
      await runIn(world, 'echo x >"$OUTSIDE/allowed" && rm "$OUTSIDE/allowed"', { allowed_paths }),
    ).toMatchObject({ code: 0 });
    const settings = { mode: "allowlist", allowed_paths } as const;
    const look =
      'ls -A "$HOME" "$WS"; cat "$WS/README"; echo x >"$OUTSIDE/in" && echo written; echo x >/usr/x; echo x >/x';
    const { stdout } = await runIn(world, look, settings);
    expect(stdout).toBe(`${world.home}:\n\n${world.ws}:\nwritten\n`);
    expect(existsSync(join(world.outside, "in"))).toBe(true);
  });

  test("a hidden home has nothing of the real one but caches", async () => {
    const { stdout } = await runIn(world, "cat ~/notes.txt; ls -d ~/.npm; echo x >~/.npm/hidden", {
      hide_home: true,
    });
    expect(stdout).toBe(`${world.home}/.npm\n`);
    expect(existsSync(join(world.home, ".npm/hidden"))).toBe(true);
  });

  test("a workspace that is the home keeps its secrets covered", async () => {
    const { outcomes } = await world.run({
      settings: { ...DEFAULT_SANDBOX, allowed_paths: [world.home] },
      commands: [
        sh(
          "cat ~/.ssh/id_ed25519 ~/.aws/credentials ~/.npmrc ~/.netrc; echo x >~/written; grep -rls CANARY ~/.config ~/.local",
        ),
      ],
    });
    expect(outcomes[0]!.stdout).toBe("fund=false\n");
    expect(existsSync(join(world.home, "written"))).toBe(true);
  });

  test("a workspace that is the whole machine hides other processes, temp files and secrets", async () => {
    const look =
      'echo x >"$OUTSIDE/whole" && cat /etc/shadow ~/.ssh/id_ed25519 "$STATE/secret"; ls /run; ls /tmp | grep -c octant-world; tr "\\0" " " </proc/1/cmdline | cut -c1-14';
    const { stdout } = await runIn(world, look, { allowed_paths: ["/"] });
    expect(stdout).toBe("0\n/usr/bin/bwrap\n");
    expect(existsSync(join(world.outside, "whole"))).toBe(true);
  });

  test("a link planted where something is mounted later leads nowhere", async () => {
    await runIn(
      world,
      `ln -s /oldroot${world.outside} ~/.gem; ln -s /oldroot${world.outside}/new ~/.gitattributes; ln -s ${world.outside} ~/.yarn`,
    );
    mkdirSync(join(world.home, ".gem/ruby"), { recursive: true });
    mkdirSync(join(world.home, ".yarn/berry"), { recursive: true });
    world.write(join(world.home, ".gitattributes"), "a".repeat(100_000));
    const before = readdirSync(world.outside);
    expect(await runIn(world, "wc -c <~/.gitattributes; test ! -L ~/.yarn")).toMatchObject({
      code: 0,
      stdout: "100000\n",
    });
    expect(readdirSync(world.outside)).toEqual(before);
  });

  test("a link in the home into the workspace is not followed for the command", async () => {
    symlinkSync(join(world.ws, "lure"), join(world.home, "link"));
    symlinkSync(join(world.home, ".ssh"), join(world.ws, "lure"));
    symlinkSync(join(world.home, ".aws"), join(world.home, "keys"));
    expect(await runIn(world, "cat ~/link/id_ed25519 ~/keys/credentials")).toMatchObject({
      code: 1,
      stdout: "",
    });
  });

  test("a linked worktree commits to its repository, and to no other that it names", async () => {
    const git = (...args: string[]) =>
      execFileSync("git", ["-c", "safe.directory=*", ...args], { stdio: "pipe" });
    const main = join(world.outside, "main");
    git("init", "-q", main);
    git("-C", main, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "x", "--allow-empty");
    const other = createWorld(uid);
    await using linked = await other;
    execFileSync("rm", ["-rf", linked.ws]);
    git("-C", main, "worktree", "add", "-q", linked.ws);
    // Now they are the user's.
    world.write(join(world.outside, "x"), "");
    linked.write(join(linked.ws, "a"), "a");
    const commit = "git add a && git -c user.name=a -c user.email=a@b commit -qm second && echo done";
    expect(await runIn(linked, commit)).toMatchObject({ stdout: "done\n" });
    expect(await runIn(linked, `echo x >"${main}/.git/hooks/pre-commit"`)).toMatchObject({ code: 2 });
    writeFileSync(join(main, ".git/worktrees/ws/gitdir"), "/elsewhere/.git\n");
    expect(await runIn(linked, `echo x >"${main}/.git/planted"`)).toMatchObject({ code: 2 });
  });

  test("our own program may change protected files", async () => {
    const command = sh("git config test.key value", { changesProtected: true });
    expect(await runIn(world, command)).toMatchObject({ code: 0 });
    expect(readFileSync(join(world.ws, ".git/config"), "utf8")).toContain("key = value");
  });

  test("named hosts are reached through the proxy, and no others", async () => {
    const server = createServer((_, response) => response.end("from the host")).listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    const get = (host: string) =>
      `/usr/bin/python3 -c 'import urllib.request; print(urllib.request.urlopen("http://${host}:${port}/").read().decode())'`;
    const script = `${get("127.0.0.1")} || exit 1; ${get("127.0.0.2")}; exit 9`;
    const command = sh(script, { env: { no_proxy: "" } });
    expect(await runIn(world, command, { network: [`127.0.0.1:${port}`] })).toEqual({
      code: 9,
      stdout: "from the host\n",
      stderr: expect.stringContaining("403"),
    });
    server.close();
  });
});

test.skipIf(NO_SANDBOX)(
  "a command ends with the process that started it, however that ends, and may have its own terminal",
  async () => {
    await using world = await createWorld(process.getuid?.() ?? 0);
    const state = openStateFolder({ roots: [world.ws], env: { HOME: world.home }, warn: () => {} });
    const sandbox = createSandbox({
      roots: [world.ws],
      settings: DEFAULT_SANDBOX,
      env: { HOME: world.home },
      state,
    });
    const env = { PATH: "/usr/bin:/bin", HOME: world.home };
    const launch = (script: string, pty: boolean) =>
      sandbox.wrap({ argv: ["/bin/sh", "-c", script], folder: world.ws, env, pty });

    const { SURVIVOR = "" } = world.env;
    const launched = await launch(`setsid sleep ${SURVIVOR} & echo ready; sleep ${SURVIVOR}`, false);
    const starter = spawn(process.execPath, ["-e", STARTER, JSON.stringify(launched)], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    await once(starter.stdout, "data");
    expect(world.processesWith(`sleep ${SURVIVOR}`).length).toBeGreaterThan(0);
    starter.kill("SIGKILL");
    await expect.poll(() => world.processesWith(SURVIVOR)).toEqual([]);

    const { spawn: spawnTerminal } = await import("@lydell/node-pty");
    const { argv } = await launch("test -t 0 && stty size && : >/dev/tty && exit 5", true);
    const terminal = spawnTerminal(argv[0], argv.slice(1), { cols: 91, rows: 17, env });
    let seen = "";
    terminal.onData((data) => {
      seen += data;
    });
    const code = await new Promise((resolve) => terminal.onExit(({ exitCode }) => resolve(exitCode)));
    expect({ code, seen }).toEqual({ code: 5, seen: "17 91\r\n" });
    await sandbox.close();
  },
);

const STARTER = `
  const { argv: [program, ...args], env } = JSON.parse(process.argv[1]);
  require("child_process").spawn(program, args, { env, stdio: "inherit", detached: true });
`;

describe("missing files", () => {
  let base: string;
  let root: string;
  beforeEach(() => {
    base = realpathSync(mkdtempSync(join(tmpdir(), "octant-missing-")));
    root = join(base, "root");
    mkdirSync(root);
  });
  afterEach(() => rmSync(base, { recursive: true }));

  const sandboxFor = (settings: Partial<SandboxSettings>) => {
    const env = { HOME: base };
    const state = openStateFolder({ roots: [root], env, warn: () => {} });
    return createSandbox({ roots: [root], settings: { ...DEFAULT_SANDBOX, ...settings }, env, state });
  };
  const command = (): SandboxedCommand => ({
    argv: ["true"],
    folder: root,
    env: { PATH: "/usr/bin:/bin" },
    pty: false,
  });

  test("a disabled sandbox is reported, and refused where settings require one", async () => {
    const off = sandboxFor({ mode: "off" });
    expect(await off.status()).toMatchObject({ level: "off", tried: [] });
    expect(await off.wrap(command())).toMatchObject({
      argv: ["true"],
      program: expect.stringMatching(/^\/.*\/true$/),
      launcher: false,
    });
    const refused = await sandboxFor({ mode: "off", require: "bubblewrap" })
      .wrap(command())
      .catch((cause) => cause);
    expect(refused).toBeInstanceOf(ToolError);
    expect(refused).toMatchObject({
      code: "SANDBOX_UNAVAILABLE",
      details: { required: "bubblewrap", available: "off" },
    });
  });

  test("a program that is not there is EXEC_FAILED, as without a sandbox", async () => {
    const sandbox = sandboxFor({});
    for (const argv of [["no-such-program"], ["/no/such/program"], ["./missing"], ["/tmp"]] as const)
      await expect(sandbox.wrap({ ...command(), argv })).rejects.toMatchObject({
        code: "EXEC_FAILED",
        details: { program: argv[0] },
      });
  });

  test("a root that has become a link is refused", async () => {
    const sandbox = sandboxFor({});
    await sandbox.wrap(command());
    renameSync(root, `${root}-moved`);
    symlinkSync(base, root);
    await expect(sandbox.wrap(command())).rejects.toMatchObject({ code: "PERMISSION_DENIED" });
  });
});

const LOOKS = `cat README ~/notes.txt; tail -n +3 /proc/net/dev | cut -d: -f1; env | grep -c CANARY
for place in . /tmp ~ ~/.npm "$OUTSIDE"; do { true >"$place/planted"; } 2>/dev/null && echo "wrote to $place"; done
cat ~/.ssh/id_ed25519 2>/dev/null; exit 3`;

test.skipIf(NO_SANDBOX).each(
  identities().flatMap((who) => [
    { ...who, level: undefined, reached: "bubblewrap" },
    { ...who, level: "unshare" as const, reached: "unshare" },
  ]),
)(
  "a read-only command sees the workspace, and can neither write nor reach anything, as $name in $reached",
  async ({ uid, level, reached }) => {
    await using world = await createWorld(uid);
    const probes = level ? [] : ESCAPE_PROBES;
    const readOnly = { network: "off", changesProtected: true, readOnly: true } as const;
    const report = await world.run({
      settings: DEFAULT_SANDBOX,
      ...(level && { level }),
      commands: [
        { ...sh(LOOKS), ...readOnly },
        ...probes.map((probe) => ({ argv: toArgv(probe), env: probe.env, ...readOnly })),
      ],
    });
    const [looked, ...attempts] = report.outcomes;
    expect(report.level).toBe(reached);
    expect(looked).toMatchObject({ code: 3, stdout: expect.stringMatching(/^hello\nplain\n( *lo\n)?0\n$/) });
    const escaped = probes.filter((_, n) => attempts[n]!.stdout.includes(ESCAPED)).map(({ name }) => name);
    expect(escaped).toEqual([]);
  },
);
