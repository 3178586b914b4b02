import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { createScriptedProvider } from "@octant/scripted-provider";
import { expect, test } from "vitest";
import { createFixtureProject, type FixtureProject } from "./fixture-project.ts";
import { startSession } from "./mcp-session.ts";
import { callOctant } from "./octant-in-process.ts";
import { accountAt } from "./scripted-account.ts";

test("thoughts, criticism and reviews are notes of the caller, with the questions of their focus", async () => {
  using project = createFixtureProject();
  const { root: cwd, env } = project;
  await using session = await startSession(["--tools", "think", "--mode", "inspect"], { cwd, env });
  const think = (action: string, input: object = {}) => session.call("think", { action, ...input });
  expect((await think("think", { thought: "The cache is cold." })).data).toMatchObject({ notes: 1 });
  const { data: doubted } = await think("critic", { analysis: "A retry is enough." });
  expect(doubted?.["questions"]).toContain("What is the strongest argument against it?");
  const reviewed = await think("review", {
    work_description: "Retries",
    focus: "testing",
    file_paths: ["src/main.ts"],
    context: "before 2.0",
  });
  expect(reviewed.data, JSON.stringify(reviewed.error)).toMatchObject({
    notes: 3,
    files: [{ hash: expect.stringMatching(/^sha256:/) }],
    questions: expect.arrayContaining(["Which test fails if the change is taken out again?"]),
  });
  expect(await think("review", { work_description: "x", file_paths: ["gone.ts"] })).toMatchObject({
    error: { code: "NOT_FOUND" },
  });
  expect((await think("list")).data).toMatchObject({
    notes: [
      { kind: "review", focus: "testing", text: "Retries", context: "before 2.0" },
      { kind: "critic" },
      { kind: "think", text: "The cache is cold." },
    ],
  });
});

const settings = ({ env }: FixtureProject, content: object) => {
  const path = join(env["HOME"] ?? "", ".config/hanzo/settings.json");
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, JSON.stringify(content));
};

test("a developer mode refuses excluded calls until it ends, and custom modes come from the settings", async () => {
  using project = createFixtureProject();
  const { root: cwd, env } = project;
  settings(project, {
    modes: { pirate: { summary: "Only sails", prompt: "Speak as a pirate.", tools: ["ws"] } },
  });
  await using session = await startSession(["--tools", "mode,ws,fs,proc"], { cwd, env });
  const mode = (action: string, input: object = {}) => session.call("mode", { action, ...input });
  const listed = (await mode("list")).data as { modes: { name: string }[]; active: string | null };
  expect(listed.active).toBeNull();
  expect(listed.modes.map(({ name }) => name)).toHaveLength(11);
  expect((await mode("show", { name: "debugger" })).data).toMatchObject({ allows: "verify" });
  expect(await mode("activate", { name: "pirat" })).toMatchObject({
    error: { code: "NOT_FOUND", message: expect.stringContaining("pirate") },
  });
  expect((await mode("activate", { name: "explorer" })).data).toMatchObject({
    mode: { name: "explorer", prompt: expect.stringContaining("path:line") },
  });
  expect(await session.call("fs", { action: "read", uri: "README.md" })).toMatchObject({ ok: true });
  expect(await session.call("fs", { action: "write", uri: "new.txt", content: "x" })).toMatchObject({
    error: { code: "PERMISSION_DENIED", details: { by: "mode", rule: "explorer" } },
  });
  expect(await session.exec("true")).toMatchObject({ error: { code: "PERMISSION_DENIED" } });
  await mode("activate", { name: "pirate" });
  expect(await session.call("fs", { action: "read", uri: "README.md" })).toMatchObject({
    error: { message: expect.stringContaining("mode pirate does not have fs.read") },
  });
  expect(await session.call("fs", { action: "help" })).toMatchObject({ ok: true });
  expect((await mode("activate", { name: "default" })).data).toEqual({ mode: null });
  expect((await mode("current")).data).toEqual({ mode: null });
  expect(await session.call("fs", { action: "write", uri: "new.txt", content: "x" })).toMatchObject({
    ok: true,
  });
});

test("limits of a mode that the agent activates apply at once", async () => {
  using project = createFixtureProject();
  settings(project, {
    modes: { brief: { summary: "One turn", prompt: "Be brief.", limits: { max_turns: 1 } } },
  });
  await using provider = await createScriptedProvider(() => ({
    parts: [{ call: "mode", input: { action: "activate", name: "brief" } }],
  }));
  const ran = await callOctant(
    ["run", "go", "--provider", "anthropic", "--model", "m", "--tools", "mode", "--max-turns", "3"],
    {
      cwd: project.root,
      env: {
        ...project.env,
        ...accountAt(provider),
      },
    },
  );
  expect(ran.code).toBe(3);
  expect(provider.requests).toHaveLength(1);
  expect(ran.stderr).toContain("the limit of 1 turn is reached");
});
