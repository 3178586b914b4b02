// What a red team read around deny rules from outside: by another name, by a record, and by git's own words.
import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { linkSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { dirname, join } from "node:path";
import { createOctant } from "@octant/app";
import { afterAll, describe, expect, test } from "vitest";
import { createTurns, planUndo } from "../../packages/app/src/agent/undo.ts";
import { createFixtureProject } from "../fixture-project.ts";

const caller = { id: "test", access: "admin" } as const;
const SECRET = "CANARY-7f3a";

const reached: string[] = [];
const server = createServer((request, response) => {
  reached.push(request.url ?? "");
  response.end("reached");
}).listen(0, "::");
await once(server, "listening");
// A server that listens on a port has an address of that form.
const { port } = server.address() as AddressInfo;

const project = createFixtureProject();
const at = (path: string) => join(project.root, path);
mkdirSync(at("vault"));
writeFileSync(at("vault/key.txt"), `${SECRET}\n`);
writeFileSync(at("vault/note.txt"), `${SECRET}\n`);
writeFileSync(at(".env"), `${SECRET}\n`);
linkSync(at("vault/key.txt"), at("twin.txt"));
mkdirSync(join(project.env["HOME"] ?? "", ".config/hanzo"), { recursive: true });
const rules = [
  { tool_pattern: "*", mode: "deny", args: { path: [".env", "vault/**"] } },
  { tool_pattern: "*", mode: "deny", args: { host: `127.0.0.1:${port}` } },
];
writeFileSync(
  join(project.env["HOME"] ?? "", ".config/hanzo/settings.json"),
  JSON.stringify({ permissions: rules }),
);
const octant = createOctant({
  projectPath: project.root,
  env: project.env,
  tools: ["fs", "proc", "vcs", "net", "cas", "artifact"],
  checkpoints: true,
});
afterAll(async () => {
  await octant.close();
  project[Symbol.dispose]();
  server.close();
});

const call = async (tool: string, action: string, input: Record<string, unknown>) =>
  (await octant.dispatch({ tool, action, input }, { caller })).envelope;

test("a command does not read a file of a denied folder by a hard link", async () => {
  const answer = await call("proc", "exec", { command: "cat twin.txt; ls -l twin.txt" });
  expect(answer).toMatchObject({ ok: true, data: { exit_code: 0 } });
  expect(JSON.stringify(answer)).not.toContain(SECRET);
});

describe("a denied address in the form of an IPv6 address", () => {
  test.each(["[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[0:0:0:0:0:ffff:127.0.0.1]", "[64:ff9b::7f00:1]"])(
    "%s is denied",
    async (host) => {
      const answer = await call("net", "request", { url: `http://${host}:${port}/` });
      expect(answer).toMatchObject({ error: { code: "PERMISSION_DENIED" } });
      expect(reached).toEqual([]);
    },
  );
});

describe("the record of a change that others made to a denied file meanwhile", async () => {
  const { checkpoints } = octant.workspace;
  const turn = checkpoints.openTurn("a turn", { session_id: "ses_test" });
  await checkpoints.during("call", async () => {
    writeFileSync(at("vault/note.txt"), "new\n");
    writeFileSync(at("plain.txt"), "new\n");
  });
  await turn.end();
  const [made] = await checkpoints.turns({});
  const { changes } = await checkpoints.plan(made!, "undo");
  const ref = await checkpoints.refFor(changes);
  const hash = ref.slice("blob:".length);
  const plain = await checkpoints.refFor(changes.filter(({ path }) => path.endsWith("plain.txt")));

  test.each([
    ["fs.read", { uri: ref }],
    ["fs.read", { uri: [ref] }],
    ["fs.diff", { hash_a: hash, hash_b: plain.slice("blob:".length) }],
    ["fs.apply_patch", { patch: ref }],
    ["fs.apply_patch", { patch: ref, dry_run: true }],
    ["fs.apply_patch", { patch: ` ${ref}\n` }],
    ["vcs.apply", { patch: ref }],
    ["cas.inspect", { hash }],
    ["cas.get", { hash }],
    ["artifact.upload", { name: "record", hash }],
    ["net.request", { url: "http://example.invalid/", method: "POST", body: { ref } }],
  ])("%s %j is denied to a caller", async (name, input) => {
    const [tool = "", action = ""] = name.split(".");
    expect(await call(tool, action, input)).toMatchObject({ error: { code: "PERMISSION_DENIED" } });
  });

  test("a caller undoes what no rule is about", async () => {
    expect(await call("fs", "apply_patch", { patch: plain })).toMatchObject({ ok: true });
    expect(await call("fs", "write", { uri: "plain.txt", content: "new\n" })).toMatchObject({ ok: true });
  });

  test("a person undoes the whole turn", async () => {
    const plan = await planUndo(createTurns(octant), "undo");
    expect(await plan.diff({ overwrite: false })).toContain(SECRET);
    await plan.apply({ overwrite: false });
    expect(readFileSync(at("vault/note.txt"), "utf8")).toBe(`${SECRET}\n`);
  });
});

const repository = (name: string, prepare: (git: (...args: string[]) => void) => void): string => {
  mkdirSync(at(name));
  const git = (...args: string[]) =>
    execFileSync("git", ["-C", at(name), "-c", "user.name=a", "-c", "user.email=a@b", ...args], {
      env: project.env,
      stdio: "pipe",
    });
  git("init", "--quiet");
  writeFileSync(at(`${name}/a.txt`), "a\n");
  git("add", "a.txt");
  git("commit", "--quiet", "-m", "one");
  prepare(git);
  return name;
};

const ACTIONS = ["status", "diff", "log", "show", "branch", "blame", "commit"];
const moreFor = (name: string, repo: string): object =>
  name === "blame" ? { path: `${repo}/a.txt` } : name === "commit" ? { message: "x" } : {};

describe("git does not quote a denied file", () => {
  const repositories = [
    repository("revisions", (git) => git("config", "blame.ignoreRevsFile", at(".env"))),
    repository("relative", (git) => git("config", "blame.ignoreRevsFile", "../.env")),
    repository("included", (git) => git("config", "include.path", "../../.env")),
    repository("packed", () => symlinkSync(at(".env"), at("packed/.git/packed-refs"))),
    repository("hard", () => linkSync(at(".env"), at("hard/.git/packed-refs"))),
    repository("shallow", () => symlinkSync(at(".env"), at("shallow/.git/shallow"))),
  ];
  test.each(repositories)("of the repository %s", async (repo) => {
    for (const name of ACTIONS) {
      const answer = await call("vcs", name, { repo, ...moreFor(name, repo) });
      expect(answer, name).toMatchObject({ error: { code: "PERMISSION_DENIED" } });
      expect(JSON.stringify(answer), name).not.toContain(SECRET);
    }
  });
});

describe("git does not quote a file outside the workspace", () => {
  const line = "a readable line of another project";
  const outside = `${project.root}-outside.txt`;
  writeFileSync(outside, `${line} !x\n`);
  afterAll(() => rmSync(outside));
  const settings = ["blame.ignoreRevsFile", "core.attributesFile", "core.excludesFile", "mailmap.file"];
  const named = [...settings, "diff.orderFile", "commit.template"].map((key) =>
    repository(`outer-${key}`, (git) => git("config", key, outside)),
  );
  const linked = ["packed-refs", "shallow", "objects/info/alternates", "info/attributes"].map((file) => {
    const name = `outer-${file.replaceAll("/", "-")}`;
    return repository(name, () => {
      const link = at(`${name}/.git/${file}`);
      mkdirSync(dirname(link), { recursive: true });
      symlinkSync(outside, link);
    });
  });

  test.each(named)("that the setting of %s names: the setting has no effect", async (repo) => {
    for (const name of ACTIONS) {
      const answer = await call("vcs", name, { repo, ...moreFor(name, repo) });
      expect(JSON.stringify(answer), name).not.toContain(line);
      if (name !== "commit") expect(answer, name).toMatchObject({ ok: true });
    }
  });

  test.each(linked)("that a link in %s leads to: git is not started", async (repo) => {
    for (const name of ACTIONS) {
      const answer = await call("vcs", name, { repo, ...moreFor(name, repo) });
      expect(JSON.stringify(answer), name).not.toContain(line);
      expect(answer, name).toMatchObject({ error: { code: "VCS_ERROR" } });
    }
  });
});
