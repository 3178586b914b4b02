import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { type McpSession, startSession } from "./mcp-session.ts";
import { runOctant } from "./octant-process.ts";
import { installCommand } from "./published-command.ts";

const sandboxed = test.skipIf(inject("missing").includes("bubblewrap"));

/** Names of programs that Octant, its shells, git, xdg-open and runners start, or might be made to start. */
const PLANTED = [
  ...["env", "sh", "bash", "true", "rm", "mkfifo", "bwrap", "unshare", "setpriv", "mount", "umount", "mkdir"],
  ...["git", "xargs", "ssh", "xdg-open", "wslview", "xdg-mime", "gio", "x-www-browser", "firefox", "open"],
  ...[
    "node",
    "npm",
    "npx",
    "rg",
    "ps",
    "kill",
    "id",
    "cat",
    "cp",
    "mv",
    "ln",
    "chmod",
    "pivot_root",
    "ulimit",
  ],
  ...[
    "newuidmap",
    "newgidmap",
    "systemd-run",
    "dbus-send",
    "sudo",
    "getent",
    "ldd",
    "which",
    "uname",
    "python3",
  ],
];

/** Not in a temp folder: those are private inside. */
const base = realpathSync(mkdtempSync(join(process.getuid?.() === 0 ? "/srv" : tmpdir(), ".octant-ways-")));
const root = join(base, "project");
const home = join(base, "home");
const outside = join(base, "outside");
const env = { PATH: process.env["PATH"], HOME: home, XDG_STATE_HOME: join(base, "state") };
let inProject: string;
let inCache: string;

beforeAll(async () => {
  for (const folder of [root, outside, home]) mkdirSync(folder, { recursive: true });
  writeFileSync(join(root, "README.md"), "# Attacked\n");
  inProject = installCommand(root);
  const npx = join(home, ".npm/_npx/0123456789abcdef");
  mkdirSync(npx, { recursive: true });
  inCache = installCommand(npx);
}, 120_000);
afterAll(() => rmSync(base, { recursive: true, force: true }));

const serve = (launcher: string): Promise<McpSession> => startSession([], { cwd: root, env, launcher });

sandboxed(
  `none of ${PLANTED.length} programs that a project plants first on the PATH runs outside`,
  async () => {
    expect(PLANTED.length).toBeGreaterThanOrEqual(40);
    const project = makeProject("planted");
    const bin = join(project, "node_modules/.bin");
    mkdirSync(bin, { recursive: true });
    const caught = join(outside, "caught");
    mkdirSync(caught);
    for (const name of PLANTED) {
      writeFileSync(join(bin, name), `#!/bin/sh\necho "$0 $*" >>${caught}/${name}\nexit 1\n`);
      chmodSync(join(bin, name), 0o755);
    }
    const path = `${bin}:${env.PATH}`;
    const more = { PATH: path, DISPLAY: ":99", WAYLAND_DISPLAY: "wayland-99" };
    await using octant = await startSession([], {
      cwd: project,
      env: { ...env, ...more },
      launcher: inCache,
    });
    for (const [tool, args] of [
      ["proc", { action: "exec", command: ["/bin/echo", "plain"] }],
      ["proc", { action: "exec", command: ["/bin/echo", "terminal"], pty: {} }],
      ["proc", { action: "exec", command: ["/bin/cat"], stdin: "given" }],
      ["proc", { action: "ps", all: true }],
      ["ws", { action: "capabilities" }],
      ["ws", { action: "detect" }],
      ["vcs", { action: "status" }],
      ["fs", { action: "search_text", pattern: "New" }],
      ["code", { action: "outline", uri: "README.md" }],
      ["code", { action: "search_symbol", query: "x" }],
      ["test", { action: "list" }],
      ["net", { action: "open", url: "http://127.0.0.1:9/" }],
    ] as const)
      await octant.call(tool, args);
    // Its findings do not matter here, and may be failures: programs on this PATH do not work.
    await runOctant(["doctor"], { cwd: project, env: { ...env, PATH: path }, launcher: inCache });
    expect(readdirSync(caught)).toEqual([]);
    // The same programs do run inside: a project's PATH counts there.
    const inside = await octant.exec("uname; echo ended");
    expect(inside.data).toMatchObject({ stdout: "ended\n" });
    expect(readdirSync(caught)).toEqual([]);
  },
);

const OVERWRITE = (install: string, node: string) => `
for f in $(find ${install} -name '*.js' -path '*octant*' | head -20) ${node}; do
  echo evil >>"$f" && echo "wrote $f"
  rm -f "$f" && echo "removed $f"
  mv "$f" "$f.away" && echo "moved $f"
done
p=${install}
while [ "$p" != ${base} ]; do mv "$p" "$p.away" && echo "moved $p"; p=$(dirname "$p"); done
ln -s /etc ${install}/planted && echo planted
echo done`;

test.each([
  ["in the served root", () => inProject],
  ["under ~/.npm/_npx", () => inCache],
])("a command cannot change, move or replace our own files %s", async (_, launcher) => {
  const install = join(dirname(launcher()), "../../../..", "node_modules");
  const listed = readdirSync(install, { recursive: true });
  const before = readFileSync(launcher(), "utf8");
  await using octant = await serve(launcher());
  for (let round = 0; round < 2; round++) {
    const { data } = await octant.exec(OVERWRITE(realpathSync(install), process.execPath));
    expect(data?.["stdout"]).toBe("done\n");
  }
  expect(readFileSync(launcher(), "utf8")).toBe(before);
  expect(readdirSync(install, { recursive: true })).toEqual(listed);
  const { data } = await octant.exec("echo still here >written && cat written");
  expect(data).toMatchObject({ exit_code: 0, stdout: "still here\n" });
});

test("no file tool changes our own files", async () => {
  await using octant = await serve(inProject);
  const edits = [{ op: "insert", line: 0, text: "evil\n" }];
  const base_hash = `sha256:${createHash("sha256").update(readFileSync(inProject)).digest("hex")}`;
  const patched = await octant.call("fs", { action: "apply_patch", uri: inProject, patch: edits, base_hash });
  expect(patched.error?.code).toBe("PROTECTED_PATH");
  const written = await octant.call("fs", {
    action: "write",
    uri: "node_modules/evil.js",
    content: "evil",
  });
  expect(written.error?.code).toBe("PROTECTED_PATH");
});

/** A checkout to attack: sources of its own, and links to the packages that are installed here. */
function copyCheckout(): string {
  const [from, to] = [join(import.meta.dirname, ".."), join(base, "checkout")];
  // The sources run, so that nothing built and no test is needed.
  const isNeeded = (path: string) => !/\/dist$|\/testing$|\.test\.ts$/.test(path);
  cpSync(join(from, "packages"), join(to, "packages"), { recursive: true, filter: isNeeded });
  for (const scope of ["", "@octant"]) {
    const modules = join(from, "node_modules", scope);
    mkdirSync(join(to, "node_modules", scope), { recursive: true });
    for (const name of readdirSync(modules).filter((one) => !one.startsWith(".") && one !== "@octant"))
      symlinkSync(
        scope === "" ? join(modules, name) : readlinkSync(join(modules, name)),
        join(to, "node_modules", scope, name),
      );
  }
  return to;
}

sandboxed("a served checkout keeps the code that runs", async () => {
  const checkout = copyCheckout();
  await using octant = await startSession(["--root", checkout], {
    cwd: checkout,
    env,
    launcher: join(checkout, "packages/cli/bin/octant.js"),
  });
  const file = join(checkout, "packages/host/src/index.ts");
  const text = readFileSync(file, "utf8");
  const { data } = await octant.exec(
    `echo evil >>${file}; mv packages/host packages/away; mv packages away; mv node_modules away; echo done`,
  );
  expect(data?.["stdout"]).toBe("done\n");
  expect(readFileSync(file, "utf8")).toBe(text);
  const { data: told } = await octant.call("ws", { action: "capabilities" });
  expect(JSON.stringify(told?.["sandbox"])).toContain("read-only");
});

test("a root inside another cannot be swapped for a link to another repository", async () => {
  const victim = join(outside, "repository");
  execFileSync("git", ["init", "-q", victim]);
  const project = makeProject("nested");
  const inner = join(project, "deep/pkg");
  mkdirSync(inner, { recursive: true });
  execFileSync("git", ["init", "-q", inner]);
  const args = ["--root", project, "--root", inner];
  await using octant = await startSession(args, { cwd: project, env, launcher: inCache });
  const swap = `while :; do mv deep deep.away; mkdir deep; ln -s ${victim} deep/pkg; mv deep/pkg deep/pkg.away; ln -s ${victim} deep/pkg; done 2>/dev/null`;
  await octant.exec(swap, { background: true, cwd: project });
  for (let round = 0; round < 15; round++)
    await octant.exec(`echo evil >>${victim}/.git/description; echo evil >${victim}/.git/new`, {
      cwd: project,
    });
  expect(readFileSync(join(victim, ".git/description"), "utf8")).not.toContain("evil");
  expect(existsSync(join(victim, ".git/new"))).toBe(false);
  expect(statSync(inner).isDirectory()).toBe(true);
});

const MADE = [
  ...[".mcp.json", ".vscode/tasks.json", ".claude/settings.json", ".envrc", ".hanzo/settings.json"],
  ...[".cursor/mcp.json", ".idea/workspace.xml", ".gemini/settings.json", "opencode.json", ".gitmodules"],
];

/** A new project without any protected entries. */
const makeProject = (name: string): string => {
  const path = join(base, name);
  mkdirSync(path);
  writeFileSync(join(path, "README.md"), "# New\n");
  return path;
};

sandboxed(
  "protected entries that a command makes are gone when it has been answered, and the answer says so",
  async () => {
    const project = makeProject("fresh");
    await using octant = await startSession([], { cwd: project, env, launcher: inCache });
    const make = MADE.map((path) => `mkdir -p "$(dirname ${path})" ; echo '{"evil":1}' >${path}`).join("; ");
    const { ok, data } = await octant.exec(`{ ${make}; } 2>/dev/null; echo made`);
    expect({ ok, stdout: data?.["stdout"] }).toEqual({ ok: true, stdout: "made\n" });
    expect(readdirSync(project)).toEqual(["README.md"]);
    for (const path of MADE) expect(data?.["note"]).toContain(path.split("/")[0]);
    expect(octant.log()).toContain(".mcp.json");
    const link = await octant.exec("ln -s /etc/passwd .mcp.json; mkfifo .envrc; echo ok");
    expect(link.data?.["stdout"]).toBe("ok\n");
    expect(readdirSync(project)).toEqual(["README.md"]);
  },
);

test("a protected entry created by a background command is moved away while it runs", async () => {
  const project = makeProject("background");
  await using octant = await startSession([], { cwd: project, env, launcher: inCache });
  const script = "echo {} >.mcp.json; while [ -e .mcp.json ]; do sleep 0.01; done; echo gone; sleep 600";
  const { data } = await octant.exec(script, { wait_for: { pattern: "gone" }, wait: 20_000 });
  expect(data).toMatchObject({ ready: true, status: "running" });
  expect(readdirSync(project)).toEqual(["README.md"]);
});

test("a protected entry created by a command is moved away although the server is killed meanwhile", async () => {
  const project = makeProject("killed");
  const octant = await startSession([], { cwd: project, env, launcher: inCache });
  // The stopped server cannot see the entry; the supervisor must.
  const { data } = await octant.exec(
    "while [ ! -e go ]; do sleep 0.01; done; echo {} >.mcp.json; touch made; sleep 600",
    {
      background: true,
    },
  );
  expect(data).toMatchObject({ status: "running" });
  process.kill(octant.pid, "SIGSTOP");
  writeFileSync(join(project, "go"), "");
  await expect.poll(() => existsSync(join(project, "made"))).toBe(true);
  await octant.kill("SIGKILL");
  await expect.poll(() => readdirSync(project).sort()).toEqual(["README.md", "go", "made"]);
});

test("a new repository keeps what git init, config and commit wrote, and loses hooks and programs", async () => {
  const project = makeProject("repository");
  await using octant = await startSession([], { cwd: project, env, launcher: inCache });
  const { data } = await octant.exec(
    `git init -q . && git config user.name A && git config user.email a@b.c && git add README.md && git commit -qm one &&
     git config core.fsmonitor ./evil.sh && git config core.hooksPath /tmp; echo evil >.git/hooks/pre-commit; git log --oneline | wc -l`,
  );
  expect(data).toMatchObject({ exit_code: 0, stdout: "1\n" });
  const config = readFileSync(join(project, ".git/config"), "utf8");
  expect(config).toContain("name = A");
  expect(config).not.toMatch(/fsmonitor|hooksPath/);
  expect(existsSync(join(project, ".git/hooks/pre-commit"))).toBe(false);
  const again = await octant.exec(
    "git commit -q --allow-empty -m two && git config core.fsmonitor ./evil.sh; echo x >.git/hooks/post-commit; git log --oneline | wc -l",
  );
  expect(again.data).toMatchObject({ stdout: "2\n" });
  expect(readFileSync(join(project, ".git/config"), "utf8")).toBe(config);
  expect(existsSync(join(project, ".git/hooks/post-commit"))).toBe(false);
});

test("an entry that the person creates between commands stays, and commands cannot change it", async () => {
  const project = makeProject("person");
  await using octant = await startSession([], { cwd: project, env, launcher: inCache });
  await octant.exec("true");
  writeFileSync(join(project, ".mcp.json"), "{}\n");
  const { data } = await octant.exec("echo evil >.mcp.json; mv .mcp.json away; cat .mcp.json");
  expect(data).toMatchObject({ stdout: "{}\n" });
  expect(readFileSync(join(project, ".mcp.json"), "utf8")).toBe("{}\n");
});
