import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { createFixtureProject, type FixtureProject } from "./fixture-project.ts";
import { callOctant } from "./octant-in-process.ts";
import { ended, runOctant, startOctant } from "./octant-process.ts";

let project: FixtureProject;
beforeAll(() => {
  project = createFixtureProject();
});
afterAll(() => project[Symbol.dispose]());

const run = (args: readonly string[], { env = {} } = {}) =>
  callOctant(args, { cwd: project.root, env: { ...project.env, ...env } });

test("a reader may close the pipe early", async () => {
  writeFileSync(join(project.root, "long.txt"), "a line of text\n".repeat(100_000));
  const child = startOctant(["call", "fs.read", "uri=long.txt", "max_bytes=2000000"], {
    cwd: project.root,
    env: project.env,
  });
  child.stdout.once("data", () => child.stdout.destroy());
  const [code] = await once(child, "exit");
  expect(code).toBe(0);
});

describe("octant call", () => {
  test("text goes to stdout unchanged, and facts about it to stderr", async () => {
    const { code, stdout, stderr } = await run(["call", "fs.read", "uri=README.md"]);
    expect({ code, stdout }).toEqual({ code: 0, stdout: "# Demo\n\nA small project.\n" });
    expect(stderr).toContain(`hash ${createHash("sha256").update(stdout).digest("hex").slice(0, 12)}`);
  });

  test("--json prints the envelope", async () => {
    const { code, stdout } = await run(["call", "fs.read", '{"uri":"README.md"}', "--json"]);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ ok: true, error: null, meta: { tool: "fs", action: "read" } });
  });

  test("a list has one line per entry, and matches look like grep's", async () => {
    const { stdout } = await run(["call", "fs.list", "uri=src", "depth=2"]);
    expect(stdout).toMatch(/^src\/main\.ts$/m);
    const hits = await run(["call", "fs.search_text", "pattern=small"]);
    expect(hits.stdout).toMatch(/^README\.md:3: A small project\.$/m);
  });

  test("a partial page says how to get the next, and that works", async () => {
    const first = await run(["call", "fs.list", "uri=.", "limit=1"]);
    const cursor = /cursor=(\S+)/.exec(first.stderr)?.[1];
    const second = await run(["call", "fs.list", "uri=.", "limit=1", `cursor=${cursor}`]);
    expect(second.code).toBe(0);
    expect(second.stdout).not.toBe(first.stdout);
  });

  test("a value can come from a file and from stdin", async () => {
    writeFileSync(join(project.root, "new.txt"), "from a file\n");
    await run(["call", "fs.write", "uri=copy.txt", "content=@new.txt"]);
    const { root: cwd, env } = project;
    await runOctant(["call", "fs.write", "uri=typed.txt", "content=@-"], { cwd, env, input: "from stdin\n" });
    expect(readFileSync(join(project.root, "copy.txt"), "utf8")).toBe("from a file\n");
    expect(readFileSync(join(project.root, "typed.txt"), "utf8")).toBe("from stdin\n");
  });

  test("a picture is announced, and saved on request", async () => {
    const png = Buffer.from(
      "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGNgYGBgAAAABQABpfZFQAAAAABJRU5ErkJggg==",
      "base64",
    );
    writeFileSync(join(project.root, "dot.png"), png);
    const { code, stderr } = await run(["call", "fs.read", "uri=dot.png", "--output", "saved.png"]);
    expect(code).toBe(0);
    expect(stderr).toContain(`image/png, ${png.length} bytes; saved as saved.png`);
    expect(readFileSync(join(project.root, "saved.png"))).toEqual(png);
  });

  test.each([
    ["a tool that does not exist", ["nope.read"], "UNKNOWN_TOOL", "octant tools"],
    ["an action that does not exist", ["fs.reed"], "UNKNOWN_ACTION", "octant help fs"],
    ["an action that was forgotten", ["fs"], "UNKNOWN_ACTION", "octant help fs"],
    [
      "an argument that does not fit",
      ["fs.read", "uri=a", "nope=1"],
      "INVALID_ARGUMENT",
      "octant help fs.read",
    ],
    ["a file that is not there", ["fs.read", "uri=nope"], "NOT_FOUND", "--json"],
    [
      "what the mode forbids",
      ["fs.write", "uri=x", "content=x", "--mode", "inspect"],
      "PERMISSION_DENIED",
      "--json",
    ],
  ])("%s is one line and a hint on stderr, and exit code 1", async (_, args, errorCode, hint) => {
    const { code, stdout, stderr } = await run(["call", ...args]);
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    const [line, second, ...rest] = stderr.split("\n");
    expect(line).toMatch(new RegExp(`^octant: ${errorCode}: `));
    expect(second?.replace("npx -y @octant/cli", "octant")).toContain(hint);
    expect(rest).toEqual([""]);
  });
});

test.each([
  [["nope"], "unknown command 'nope'"],
  [["--root", ".", "tools"], "flags come after the command"],
  [["call", "fs.read", "uri=@nope.txt"], "@nope.txt cannot be read"],
  [["serve", "--mode", "nope"], "inspect, apply, verify, ship"],
  [["tools", "--root", ".", "--root", "/nope"], "/nope is not a folder"],
  [["tools", "--root", "src/main.ts"], "src/main.ts is not a folder"],
  [["serve", "--tools", "nope"], "there is no tool 'nope'; choose from: ws, fs, code, proc, test, "],
])("%j is wrong usage: a line, a hint, exit code 2", async (args, message) => {
  const { code, stdout, stderr } = await run(args);
  expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
  expect(stderr).toContain(message);
  expect(stderr.split("\n")).toEqual([
    expect.stringMatching(/^octant: /),
    expect.stringMatching(/^hint: /),
    "",
  ]);
});

test.each([
  ["OCTANT_MODE", "nope"],
  ["OCTANT_TOOLS", "nope"],
])("%s stands for its flag", async (name, value) => {
  expect(await run(["tools"], { env: { [name]: value } })).toMatchObject({ code: 2 });
});

test.each([
  [["help", "nope"], /^octant: UNKNOWN_TOOL: /, "octant tools"],
  [["help", "fs.nope"], /^octant: UNKNOWN_ACTION: /, "octant tools"],
  [["help", "fs.read.more"], /^octant: UNKNOWN_ACTION: unknown action 'read\.more'/, "octant tools"],
  [["policy", "explain", "nope.read"], /^octant: UNKNOWN_TOOL: /, "octant tools"],
  // The place of the mistake says it all.
  [["tools", "--root", "broken"], /^octant: INVALID_ARGUMENT: \.hanzo\/settings\.json:1:2/, undefined],
])("%j fails with a line and the next step, and OCTANT_DEBUG shows where", async (args, message, hint) => {
  mkdirSync(join(project.root, "broken/.hanzo"), { recursive: true });
  writeFileSync(join(project.root, "broken/.hanzo/settings.json"), "{broken");
  const { code, stderr } = await run(args);
  expect(code).toBe(1);
  expect(stderr.split("\n")).toEqual([
    expect.stringMatching(message),
    ...(hint === undefined
      ? []
      : [expect.stringMatching(`^hint: ${hint.replace("octant", "(octant|npx -y @octant/cli)")}`)]),
    "",
  ]);
  expect((await run(args, { env: { OCTANT_DEBUG: "1" } })).stderr).toContain("    at ");
});

test("Ctrl-C ends a call with the shell's exit code", async () => {
  const child = startOctant(["call", "proc.exec", "command=echo > began; sleep 60"], {
    cwd: project.root,
    env: project.env,
  });
  await vi.waitFor(() => expect(existsSync(join(project.root, "began"))).toBe(true), { timeout: 20_000 });
  child.kill("SIGINT");
  expect(await ended(child)).toMatchObject({ code: 130, stderr: expect.stringContaining("CANCELLED") });
});

test("OCTANT_ROOT is a list like PATH", async () => {
  const env = { OCTANT_ROOT: `${project.root}/src:${project.root}` };
  const { stdout } = await run(["call", "fs.read", "uri=main.ts"], { env });
  expect(stdout).toBe("export const answer = 42;\n");
});

test("octant alone says what to do next", async () => {
  const { code, stdout } = await run([]);
  expect(code).toBe(0);
  for (const command of ["serve", "call", "tools", "help", "doctor", "completion"])
    expect(stdout).toContain(`  ${command}`);
  expect((await run(["--help"])).stdout).toBe(stdout);
});

test("--help and help show the usage of a command", async () => {
  const { code, stdout } = await run(["serve", "--help"]);
  expect(code).toBe(0);
  expect(stdout).toMatch(/^octant serve\n[\s\S]*--root DIR .*OCTANT_ROOT[\s\S]*Exit codes:/);
  expect((await run(["help", "serve"])).stdout).toBe(stdout);
  expect((await run(["run", "--help"])).stdout.match(/Exit codes/g)).toHaveLength(1);
});

test("octant help shows the manual of a tool and of an action", async () => {
  const tool = await run(["help", "fs"]);
  const action = await run(["help", "fs.read"]);
  expect(tool.stdout).toMatch(/^fs\n/);
  expect(action.stdout).toMatch(/^fs\.read\n/);
  expect(action.stdout).not.toMatch(/[`|]/);
  expect(await run(["help", "nope"])).toMatchObject({ code: 1, stdout: "" });
});

test("octant tools shows the cost of the list; --json is what a client gets", async () => {
  expect((await run(["tools"])).stdout).toMatch(
    /fs\.read +read +sync[\s\S]*tools\/list: \d+ tools, about \d+ tokens\n$/,
  );
  const { tools } = JSON.parse((await run(["tools", "--json", "--tools", "fs"])).stdout);
  expect(tools).toMatchObject([{ name: "fs", inputSchema: { type: "object" } }]);
  expect((await run(["tools", "--mode", "inspect"])).stdout).not.toContain("fs.write");
  const split = JSON.parse((await run(["tools", "--json", "--profile", "split"])).stdout);
  expect(split.tools.map(({ name }: { name: string }) => name)).toContain("fs_read");
});

type Check = Record<"name" | "status" | "detail", string>;

test("octant doctor reports a healthy machine with its edges and tokens, and leaves no token behind", async () => {
  const made = JSON.parse((await run(["token", "create", "--name", "ci", "--json"])).stdout);
  const { code, stdout } = await run(["doctor", "--json"]);
  expect(code).toBe(0);
  const checks: Check[] = JSON.parse(stdout);
  expect(checks).toContainEqual({ name: "root", status: "ok", detail: `file://${project.root}` });
  expect(checks).toContainEqual({
    name: "test.run",
    status: "ok",
    detail: expect.stringContaining("ran in the sandbox"),
  });
  expect(checks.map(({ name }) => name)).toEqual(
    expect.arrayContaining(["octant", "node", "state folder", "sandbox", "vcs: git", "terminal"]),
  );
  const found = Object.fromEntries(checks.map(({ name, status, detail }) => [name, `${status}: ${detail}`]));
  expect(found["edge: stdio"]).toMatch(/^ok: octant serve lists \d+ tools$/);
  for (const edge of ["http", "websocket", "sse"]) expect(found[`edge: ${edge}`]).toMatch(/^ok: .* answers /);
  expect(found["tokens"]).toContain(`1 good (${made.id} 'ci' admin)`);
  expect(JSON.parse((await run(["token", "list", "--json"])).stdout)).toHaveLength(1);
  await run(["token", "revoke", made.id]);
});

test("octant doctor reports a workspace that cannot be opened, and with --all every check", async () => {
  const { code, stdout } = await run(["doctor", "--root", "/nope"]);
  expect(code).toBe(1);
  expect(stdout).toMatch(/^fail +workspace/m);
  expect(stdout).toMatch(/^warn +test\.run +not tried/m);
  expect(stdout).toMatch(/--all shows them\nNot ready: \d+ checks? failed; .*\n$/);
  const all = (await run(["doctor", "--root", "/nope", "--all"])).stdout;
  expect(all.split("\n").length).toBeGreaterThan(stdout.split("\n").length);
  expect(all).not.toContain("--all");
});

test("octant doctor reports a temp folder that cannot be used, and goes on", async () => {
  const env = { ...project.env, TMPDIR: "/nope" };
  const { code, stdout } = await runOctant(["doctor"], { cwd: project.root, env });
  expect(code).toBe(1);
  expect(stdout).toMatch(/^fail +temp folder +\/nope cannot be written to; set TMPDIR/m);
  expect(stdout).toMatch(/^ok +terminal/m);
});

test("octant doctor reports a taken port, and leaves out what the project does not need", async () => {
  const taken = createServer().listen(0, "127.0.0.1");
  onTestFinished(() => void taken.close());
  await once(taken, "listening");
  // It listens on a port, not on a pipe.
  const { port } = taken.address() as AddressInfo;
  // Only git is here, so nothing else is tried.
  const bin = join(project.root, "../bin");
  mkdirSync(bin);
  symlinkSync(execFileSync("which", ["git"], { encoding: "utf8" }).trim(), join(bin, "git"));
  const { stdout } = await run(["doctor"], { env: { OCTANT_PORT: String(port), PATH: bin } });
  expect(stdout).toMatch(
    new RegExp(`^warn +edge: http +port ${port} \\(OCTANT_PORT\\) is not available`, "m"),
  );
  expect(stdout).toMatch(/--all shows them\nReady.*\.\n$/);
  expect(stdout).not.toContain("not installed");
});
