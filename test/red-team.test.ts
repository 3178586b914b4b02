import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createFixtureProject, type FixtureProject } from "./fixture-project.ts";
import { startOctant } from "./octant-process.ts";

const SECRET = "what nobody inside may know";
const INITIALIZE = {
  protocolVersion: "2025-11-25",
  capabilities: {},
  clientInfo: { name: "hostile", version: "1" },
};

let project: FixtureProject;
let outside: string;
beforeAll(() => {
  project = createFixtureProject();
  const { root } = project;
  outside = join(dirname(root), "demo-outside");
  mkdirSync(outside);
  writeFileSync(join(outside, "secret"), SECRET);
  symlinkSync(join(outside, "secret"), join(root, "link"));
  symlinkSync(outside, join(root, "folder-link"));
  symlinkSync(join(outside, "new"), join(root, "dangling"));
  symlinkSync(".git", join(root, "git-link"));
  // The sandbox makes it where git did not.
  mkdirSync(join(root, ".git/hooks"), { recursive: true });
  symlinkSync("/proc/self/environ", join(root, "environ"));
  symlinkSync("/dev/zero", join(root, "endless"));
  execFileSync("mkfifo", [join(root, "pipe")]);
});
afterAll(() => project[Symbol.dispose]());

/** A conversation over raw lines, so that anything can be sent. */
async function converse() {
  const child = startOctant(["serve"], { cwd: project.root, env: { ...project.env, TOKEN: SECRET } });
  const waiting = new Map<unknown, (message: { result: { structuredContent: unknown } }) => void>();
  createInterface({ input: child.stdout }).on("line", (line) => {
    const message = JSON.parse(line);
    waiting.get(message.id)?.(message);
  });
  let id = 0;
  const say = (text: string | Buffer) => child.stdin.write(text);
  const ask = (method: string, params: object) =>
    new Promise<{ result: { structuredContent: unknown } }>((resolve) => {
      waiting.set(++id, resolve);
      say(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
    });
  await ask("initialize", INITIALIZE);
  say('{"jsonrpc":"2.0","method":"notifications/initialized"}\n');
  const fs = async (args: object) => {
    const { result } = await ask("tools/call", { name: "fs", arguments: args });
    return result.structuredContent;
  };
  return { say, fs, [Symbol.dispose]: () => child.kill("SIGKILL") };
}

const REFUSED = expect.objectContaining({
  ok: false,
  error: expect.objectContaining({ code: expect.not.stringMatching("INTERNAL") }),
});

test("no spelling of a uri reads or lists files outside, or waits for endless ones", async () => {
  using octant = await converse();
  const { root } = project;
  const uris = [
    ...["link", "folder-link/secret", "folder-link", "dangling", "environ", "endless", "pipe"],
    ...["../demo-outside/secret", join(outside, "secret"), `file://${outside}/secret`, `FILE://${outside}`],
    ...[`file://${root}/%2e%2e/demo-outside/secret`, `file://${root}%2f..%2fdemo-outside%2fsecret`],
    ...["//etc/passwd", "file:////etc/passwd", "file:/etc/passwd", "file://elsewhere/etc/passwd"],
    ...["/proc/self/environ", "README.md\0", "stdout:../../secret", "blob:../secret"],
  ];
  for (const uri of uris)
    for (const action of ["read", "list"]) {
      const answer = await octant.fs({ action, uri });
      expect(answer, `${action} ${uri.slice(0, 80)}`).toEqual(REFUSED);
      expect(JSON.stringify(answer)).not.toContain(SECRET);
    }
});

test("no form of a patch creates a file outside, through a link, or in a protected folder", async () => {
  using octant = await converse();
  const repository = readdirSync(join(project.root, ".git"), { recursive: true });
  const before = "export const answer = 42;\n";
  const base_hash = `sha256:${createHash("sha256").update(before).digest("hex")}`;
  const forms = [
    (to: string) =>
      `diff --git a/src/main.ts b/${to}\nsimilarity index 100%\nrename from src/main.ts\nrename to ${to}\n`,
    (to: string) =>
      `diff --git a/src/main.ts b/${to}\nsimilarity index 100%\ncopy from src/main.ts\ncopy to ${to}\n`,
    (to: string) => `--- /dev/null\n+++ b/${to}\n@@ -0,0 +1 @@\n+x\n`,
    (to: string) => `*** Begin Patch\n*** Add File: ${to}\n+x\n*** End Patch\n`,
    (to: string) =>
      `*** Begin Patch\n*** Update File: src/main.ts\n*** Move to: ${to}\n@@\n-${before.trim()}\n+x\n*** End Patch\n`,
  ];
  const places = [
    ".git/hooks/x",
    "git-link/hooks/x",
    ".GIT/x",
    ".claude/x",
    "folder-link/x",
    "../x",
    "/etc/x",
  ];
  for (const to of places)
    for (const form of forms)
      expect(await octant.fs({ action: "apply_patch", patch: form(to), base_hash }), form(to)).toEqual(
        REFUSED,
      );
  expect(await octant.fs({ action: "write", uri: "dangling", content: "x" })).toEqual(REFUSED);
  expect(readdirSync(outside)).toEqual(["secret"]);
  expect(readdirSync(join(project.root, ".git"), { recursive: true })).toEqual(repository);
  expect(existsSync(join(project.root, "../x"))).toBe(false);
});

test.each<[string, string | Buffer]>([
  ["deeply nested JSON", `{"jsonrpc":"2.0","id":9,"method":"x","params":${"[".repeat(200_000)}\n`],
  [
    "ids of every kind",
    [null, 1.5, "", true, [1]].map((id) => JSON.stringify({ id, method: "x" })).join("\n"),
  ],
  ["bytes that are no text", Buffer.from([0xff, 0xfe, 0xc0, 0x80, 0x0a])],
  ["a batch", '[{"jsonrpc":"2.0","id":1,"method":"ping"}]\n'],
  [
    "cancellations of nothing",
    '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{}}\n'.repeat(100),
  ],
])("after %s the next call is answered", async (_, nonsense) => {
  using octant = await converse();
  octant.say(nonsense);
  octant.say("\n");
  expect(await octant.fs({ action: "read", uri: "README.md" })).toMatchObject({ ok: true });
});
