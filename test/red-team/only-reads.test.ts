// Commands that run without a question because they only read: what a hostile project made them read besides.
import { execFileSync } from "node:child_process";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createOctant } from "@octant/app";
import { afterAll, expect, test } from "vitest";
import { createFixtureProject } from "../fixture-project.ts";

const SECRET = "CANARY-51d0";

const project = createFixtureProject();
const home = project.env["HOME"] ?? "";
const documents = join(home, "Documents");
const at = (path: string) => join(project.root, path);
mkdirSync(documents);
writeFileSync(join(documents, "notes.json"), `{ "text": "${SECRET}" }\n`);
symlinkSync(documents, at("link-to-home"));
symlinkSync("/var", at("link-to-var"));
writeFileSync(at("version"), `console.log("ran")\n`);
writeFileSync(join(home, ".gitconfig"), "[user]\n\tname = Somebody\n");
const reads = `cat '${join(documents, "notes.json")}' >&2; false`;
execFileSync("git", ["config", "core.fsmonitor", reads], { cwd: project.root });

const octant = createOctant({ projectPath: project.root, env: project.env, permissions: "enforce" });
afterAll(async () => {
  await octant.close();
  project[Symbol.dispose]();
});

async function exec(command: string, cwd = ".") {
  const call = { tool: "proc", action: "exec", input: { command, cwd } };
  const ask = async () => ({ answer: "deny" }) as const;
  const { envelope } = await octant.dispatch(call, { caller: { id: "test", access: "admin" }, ask });
  return envelope;
}

test.each([
  "cat link*/*.json",
  "grep -R CANARY .",
  "diff -r src link-to-h*",
  "ls -RL .",
  "find -L . -maxdepth 2",
  "git status",
  `jq -n 'import "notes" as $notes {search: "${documents}"}; $notes'`,
])("reads nothing of the person outside the project: %s", async (command) => {
  const answer = await exec(command);
  // It ran, so the sandbox is what hides the files.
  expect(answer).toMatchObject({ ok: true, data: { exit_code: expect.any(Number) } });
  expect(JSON.stringify(answer)).not.toMatch(/CANARY-51d0|var\/log|Only in link/);
});

test.each(["node version", "python3 version", "echo 'print(1)' | python3 -v"])(
  "a program that would run a file or its input is asked about: %s",
  async (command) => {
    expect(await exec(command)).toMatchObject({ ok: false, error: { code: "PERMISSION_DENIED" } });
  },
);

test("git answers in a part of a repository, and with the settings of the person", async () => {
  const answer = await exec("git log --oneline && git config --get user.name", "src");
  expect(answer).toMatchObject({
    ok: true,
    data: { stdout: expect.stringMatching(/Go on\n.* Begin\nDemo/) },
  });
  await using part = createOctant({
    projectPath: at("src"),
    env: project.env,
    permissions: "enforce",
  });
  const call = { tool: "proc", action: "exec", input: { command: "git status --short" } };
  const { envelope } = await part.dispatch(call, { caller: { id: "test", access: "admin" } });
  expect(envelope).toMatchObject({
    ok: true,
    data: { stdout: expect.stringContaining(" M main.ts\n?? ../link-to-home") },
  });
});
