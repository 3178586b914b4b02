import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { createOctant, type Octant } from "@octant/app";
import {
  allowedIn,
  type Envelope,
  isUnaskedIn,
  type MODES,
  type Question,
  SESSION_MODES,
} from "@octant/core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createFixtureProject } from "./fixture-project.ts";
import { runOctant } from "./octant-process.ts";

const project = createFixtureProject();
let octant: Octant;
/** What the person was asked in the last call. */
const asked: Question[] = [];
let answer: "once" | "deny" = "deny";

beforeAll(() => {
  mkdirSync(join(project.root, ".hanzo"), { recursive: true });
  writeFileSync(join(project.root, "denied.txt"), "hidden content\n");
  writeFileSync(
    join(project.root, ".hanzo/settings.json"),
    JSON.stringify({
      permissions: [
        { tool_pattern: "*", mode: "deny", args: { path: "denied.txt" } },
        { tool_pattern: "proc.exec", mode: "deny", args: { command: ["whoami"] } },
        { tool_pattern: "proc.exec", mode: "prompt", args: { command: ["git", "log"] } },
      ],
    }),
  );
  octant = createOctant({
    projectPath: project.root,
    env: project.env,
    permissions: "enforce",
    switchesModes: true,
    checkpointsByDefault: true,
  });
});
afterAll(async () => {
  await octant.close();
  project[Symbol.dispose]();
});

async function call(mode: (typeof SESSION_MODES)[number], name: string, input: Record<string, unknown>) {
  const [tool = "", action] = name.split(".");
  const id = `session-${mode}`;
  octant.modes.setSession(id, mode);
  asked.length = 0;
  const { envelope } = await octant.dispatch(
    { tool, action, input },
    {
      caller: { id, access: "admin" },
      ask: async (question) => {
        asked.push(question);
        return { answer };
      },
    },
  );
  // The output of proc.exec, where a test reads it.
  return envelope as Envelope<{ stdout?: string; exit_code?: number; note?: string }>;
}

const exec = (mode: (typeof SESSION_MODES)[number], command: string, more = {}) =>
  call(mode, "proc.exec", { command, ...more });

describe("every mode × every kind of call", () => {
  const outcomeOf = async (
    mode: (typeof SESSION_MODES)[number],
    name: string,
    input: Record<string, unknown>,
  ) => {
    const { ok, error } = await call(mode, name, input);
    if (asked.length > 0) return "asks";
    // A failure of the action itself, such as a file that exists, comes after policy.
    return ok ? "runs" : (Reflect.get(error.details, "by") ?? "runs");
  };
  const ROWS = [
    ["fs.read", { uri: "README.md" }, ["runs", "runs", "runs", "runs"]],
    ["fs.write", { uri: "new.txt", content: "x" }, ["asks", "runs", "runs", "mode"]],
    ["fs.mkdir", { uri: "folder" }, ["asks", "runs", "runs", "mode"]],
    ["proc.exec", { command: "echo x > made.txt" }, ["asks", "asks", "runs", "mode"]],
    ["proc.exec", { command: "ls src && wc -l README.md" }, ["runs", "runs", "runs", "mode"]],
    ["proc.exec", { command: "true", needs: "network", reason: "x" }, ["asks", "asks", "asks", "mode"]],
    ["proc.exec", { command: "true", needs: "outside", reason: "x" }, ["asks", "asks", "asks", "mode"]],
    ["net.request", { url: "http://127.0.0.1:1/" }, ["asks", "asks", "asks", "mode"]],
    ["vcs.commit", { message: "x" }, ["asks", "asks", "asks", "mode"]],
    // Rules win over modes and over the table of harmless programs.
    ["fs.write", { uri: "denied.txt", content: "x" }, ["permission", "permission", "permission", "mode"]],
    ["proc.exec", { command: "whoami" }, ["permission", "permission", "permission", "mode"]],
    ["proc.exec", { command: "git log" }, ["asks", "asks", "asks", "mode"]],
  ] as const;
  test.each(ROWS)("%s %j", async (name, input, expected) => {
    const [tool = "", action = ""] = name.split(".");
    expect(octant.registry.get(tool)?.actions, name).toHaveProperty(action);
    const outcomes: unknown[] = [];
    for (const mode of SESSION_MODES) outcomes.push(await outcomeOf(mode, name, input));
    expect(outcomes).toEqual(expected);
  });
});

test("only calls that undo or the sandbox covers are ever unasked", () => {
  const all = octant.registry
    .list()
    .flatMap((tool) =>
      Object.entries(tool.actions).map(([name, act]) => ({ name: `${tool.name}.${name}`, act })),
    );
  const inMode = (mode: keyof typeof MODES) =>
    all.filter(({ act }) => isUnaskedIn(mode, act)).map(({ name }) => name);
  const edits = ["fs.apply_patch", "fs.write", "fs.mkdir", "fs.rm", "code.rename", "code.format"];
  expect(inMode("edits").toSorted()).toEqual(edits.toSorted());
  expect(inMode("sandbox").toSorted()).toEqual([...edits, "proc.exec", "proc.kill", "test.run"].toSorted());
  for (const { name, act } of all) if (allowedIn("plan", act)) expect(act.intent, name).toBe("inspect");
});

test("a command that the mode allows is confined, has no network, and its failure says so", async () => {
  const server = createServer((_request, response) => response.end("reached"));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  // A listening TCP server has an address with a port.
  const { port } = server.address() as AddressInfo;
  try {
    const reach = `${process.execPath} -e "fetch('http://127.0.0.1:${port}').then(r=>r.text()).then(console.log)"`;
    const alone = await exec("sandbox", reach);
    expect(asked).toEqual([]);
    expect(alone.data).toMatchObject({ exit_code: 1, note: expect.stringContaining("needs: network") });
    const silent = await exec("sandbox", `${reach} 2>/dev/null || exit 7`);
    expect(silent.data).toMatchObject({ exit_code: 7, note: expect.stringContaining("needs: network") });
    expect((await exec("sandbox", "exit 1")).data?.note).toBeUndefined();
    for (const line of [`${reach} | cat`, `curl -s http://127.0.0.1:${port} 2>/dev/null | head -c 9`])
      expect((await exec("sandbox", line)).data).toMatchObject({
        exit_code: 0,
        note: expect.stringContaining("needs: network"),
      });
    for (const line of ["cat README.md | head -1", "true | cat", "echo curl"])
      expect((await exec("sandbox", line)).data?.note, line).toBeUndefined();
    const waiting = await exec("sandbox", "sleep 100", { wait: 100 });
    expect(waiting.data?.note).toContain("it runs without network");
    const started = await exec("sandbox", "sleep 100", { background: true });
    expect(started.data?.note).not.toContain("network");
    const elsewhere = await exec("sandbox", "echo x > /etc/octant-test");
    expect(elsewhere.data?.note).toContain("needs: outside");
    answer = "once";
    const given = await exec("sandbox", reach, { needs: "network", reason: "to call the server" });
    expect(asked).toMatchObject([{ input: { needs: "network", reason: "to call the server" } }]);
    expect(given.data?.stdout).toBe("reached\n");
  } finally {
    answer = "deny";
    server.close();
  }
});

test("programs that only read run where nothing can be written", async () => {
  const { data } = await exec("ask", "cat denied.txt; ls README.md");
  expect(asked).toEqual([]);
  // The rule's file is empty for commands.
  expect(data?.stdout).toBe("README.md\n");
});

test("outside the sandbox only after a question with the reason, and never while rules hide files", async () => {
  const target = join(project.env["HOME"] ?? "", "outside.txt");
  const line = `echo x > ${target}`;
  const inside = await exec("sandbox", line);
  expect(existsSync(target), JSON.stringify(inside)).toBe(false);
  answer = "once";
  const refused = await exec("sandbox", line, { needs: "outside", reason: "the file is in the home" });
  answer = "deny";
  expect(asked).toMatchObject([
    {
      reason: expect.stringContaining("outside the sandbox, with all your rights: the file is in the home"),
      risk: expect.arrayContaining(["unconfined"]),
    },
  ]);
  expect(refused).toMatchObject({ ok: false, error: { code: "PERMISSION_DENIED" } });
  expect(existsSync(target)).toBe(false);
});

test("outside the sandbox is outside, once a person has said yes", async () => {
  using other = createFixtureProject();
  await using open = createOctant({
    projectPath: other.root,
    env: other.env,
    permissions: "enforce",
    mode: "sandbox",
  });
  const target = join(other.env["HOME"] ?? "", "outside.txt");
  const run = (ask?: () => Promise<{ answer: "once" }>) =>
    open.dispatch(
      {
        tool: "proc",
        action: "exec",
        input: { command: `echo x > ${target}`, needs: "outside", reason: "r" },
      },
      { caller: { id: "person", access: "admin" }, ...(ask && { ask }) },
    );
  expect((await run()).envelope.error?.code).toBe("APPROVAL_REQUIRED");
  expect(existsSync(target)).toBe(false);
  const { envelope } = await run(async () => ({ answer: "once" }));
  expect(envelope).toMatchObject({ ok: true, meta: { backend: "sandbox off" } });
  expect(readFileSync(target, "utf8")).toBe("x\n");
});

test("under a host that asks, nothing runs outside the sandbox", async () => {
  using other = createFixtureProject();
  await using open = createOctant({ projectPath: other.root, env: other.env });
  const { envelope } = await open.dispatch(
    { tool: "proc", action: "exec", input: { command: "true", needs: "outside", reason: "r" } },
    { caller: { id: "host", access: "admin" } },
  );
  expect(envelope.error?.code).toBe("APPROVAL_REQUIRED");
});

test("where no sandbox works, the mode says so, and commands are asked about as before", async () => {
  using other = createFixtureProject();
  const node = join(import.meta.dirname, "without-sandbox.sh");
  const env = { ...other.env, OCTANT_TEST_NODE: process.execPath, ANTHROPIC_API_KEY: "k" };
  const shown = await runOctant(["run", "/mode sandbox", "--provider", "anthropic", "--model", "m"], {
    cwd: other.root,
    env,
    node,
  });
  expect(shown.stdout).toContain("No sandbox confines commands here, so each is asked about");
  for (const command of ["ls", "echo x > made.txt"]) {
    const called = await runOctant(
      ["call", "proc.exec", `command=${command}`, "--permissions", "enforce", "--mode", "sandbox"],
      { cwd: other.root, env, node },
    );
    expect(called.stderr).toContain("needs the approval of a person");
  }
  expect(existsSync(join(other.root, "made.txt"))).toBe(false);
});
