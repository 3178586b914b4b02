import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Script } from "@octant/scripted-provider";
import { expect, test } from "vitest";
import { type AcpClient, openAcpClient } from "./acp-client.ts";
import { createFixtureProject } from "./fixture-project.ts";

const HEARD: Script = () => ({ parts: [{ text: "Heard." }] });

/** A project whose instructions, hook and skill wait for trust. */
function createProject() {
  const project = createFixtureProject();
  const write = (path: string, text: string) => {
    mkdirSync(join(project.root, path, ".."), { recursive: true });
    writeFileSync(join(project.root, path), text);
  };
  write("AGENTS.md", "Always mention the milk.\n");
  write(".claude/skills/brew/SKILL.md", "---\nname: brew\ndescription: Brews tea.\n---\nBoil water.\n");
  const hook = { type: "command", command: "touch hook-ran" };
  write(".claude/settings.json", JSON.stringify({ hooks: { UserPromptSubmit: [{ hooks: [hook] }] } }));
  return project;
}

const choose = (editor: AcpClient, answer: string) => {
  editor.answer = () => answer;
};
const systemOf = (editor: AcpClient) => editor.provider.requests.at(-1)?.system ?? "";

test("an editor is asked about what waits for trust before the first message, and a yes takes effect at once", async () => {
  using project = createProject();
  await using editor = await openAcpClient({ script: HEARD, project });
  const sessionId = await editor.newSession();
  choose(editor, "trust");
  expect(await editor.prompt(sessionId, "hello")).toBe("end_turn");
  expect(editor.asked).toHaveLength(1);
  const [question] = editor.asked;
  expect(question?.options.map(({ kind }) => kind)).toEqual(["allow_always", "reject_always"]);
  const shown = JSON.stringify(question?.toolCall.content);
  for (const part of ["Always mention the milk.", "touch hook-ran", "Boil water."])
    expect(shown).toContain(part);
  expect(systemOf(editor)).toContain("Always mention the milk.");
  expect(existsSync(join(project.root, "hook-ran"))).toBe(true);
  const commands = editor.updates.findLast((one) => one.sessionUpdate === "available_commands_update");
  expect(JSON.stringify(commands)).toContain('"brew"');
  // The id is the one that the editor knows, and the question is asked once.
  expect(await editor.prompt(sessionId, "again")).toBe("end_turn");
  expect(editor.provider.requests.at(-1)?.answers).toBe(1);
  await editor.newSession();
  expect(editor.asked).toHaveLength(1);
  expect(editor.problems).toEqual([]);
});

test("a no is remembered for exactly this content, and nothing of it has an effect", async () => {
  using project = createProject();
  await using editor = await openAcpClient({ script: HEARD, project });
  choose(editor, "ignore");
  expect(await editor.prompt(await editor.newSession(), "hello")).toBe("end_turn");
  expect(systemOf(editor)).not.toContain("Always mention the milk.");
  expect(existsSync(join(project.root, "hook-ran"))).toBe(false);
  await editor.prompt(await editor.newSession(), "hello");
  expect(editor.asked).toHaveLength(1);
  writeFileSync(join(project.root, "AGENTS.md"), "Never mention the milk.\n");
  await editor.prompt(await editor.newSession(), "hello");
  expect(editor.asked).toHaveLength(2);
  expect(editor.problems).toEqual([]);
});

test("a closed question stops the turn, trusts nothing, and comes again", async () => {
  using project = createProject();
  await using editor = await openAcpClient({ script: HEARD, project });
  const sessionId = await editor.newSession();
  choose(editor, "cancelled");
  expect(await editor.prompt(sessionId, "hello")).toBe("cancelled");
  expect(editor.provider.requests).toHaveLength(0);
  choose(editor, "trust");
  expect(await editor.prompt(sessionId, "hello")).toBe("end_turn");
  expect(editor.asked).toHaveLength(2);
  expect(systemOf(editor)).toContain("Always mention the milk.");
});

test("mode and model that were chosen before the question stay", async () => {
  using project = createProject();
  await using editor = await openAcpClient({ script: HEARD, project });
  const sessionId = await editor.newSession();
  await editor.agent.request("session/set_mode", { sessionId, modeId: "plan" });
  choose(editor, "trust");
  await editor.prompt(sessionId, "/mode");
  await editor.prompt(sessionId, "hello");
  editor.updates.length = 0;
  await editor.prompt(sessionId, "/mode");
  expect(editor.text()).toMatch(/mode: plan/);
});

const PAGE = { title: "Node 24 is out", url: "https://nodejs.org/24" };
const SEARCH: Script = ({ answers }) =>
  answers > 0
    ? { parts: [{ text: "Nothing more." }] }
    : { parts: [{ search: "node 24 release", sources: [PAGE] }, { text: "Node 24 is out." }] };

test("an editor shows what the model's provider searched and found, live and when the session is loaded", async () => {
  using project = createFixtureProject();
  const settings = join(
    project.env["XDG_CONFIG_HOME"] ?? join(project.env["HOME"] ?? "", ".config"),
    "hanzo",
  );
  mkdirSync(settings, { recursive: true });
  const chosen = JSON.stringify({ net_search: { provider: "model" } });
  writeFileSync(join(settings, "settings.json"), chosen, { mode: 0o600 });
  await using editor = await openAcpClient({ script: SEARCH, project });
  const sessionId = await editor.newSession();
  const searches = () =>
    editor.updates.filter(
      (one) => "toolCallId" in one && JSON.stringify(one).match(/searched the web|nodejs\.org\/24/),
    );
  await editor.prompt(sessionId, "what is new?");
  const live = searches();
  expect(live).toMatchObject([
    { sessionUpdate: "tool_call", title: "Web search: node 24 release", kind: "fetch" },
    { sessionUpdate: "tool_call_update", status: "completed" },
  ]);
  editor.updates.length = 0;
  await editor.agent.request("session/load", { sessionId, cwd: project.root, mcpServers: [] });
  expect(searches()).toEqual(live);
  expect(await editor.prompt(sessionId, "and now?")).toBe("end_turn");
  expect(editor.provider.requests.at(-1)?.raw).toContain('"encrypted_content"');
  expect(editor.problems).toEqual([]);
});
