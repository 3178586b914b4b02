import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { createScriptedProvider, type Script } from "@octant/scripted-provider";
import { expect, test } from "vitest";
import { createFixtureProject, type FixtureProject } from "./fixture-project.ts";
import { callOctant } from "./octant-in-process.ts";
import { openChat } from "./open-chat.ts";
import { accountAt } from "./scripted-account.ts";

const SEARCH: Script = ({ answers }) =>
  answers > 0
    ? { parts: [{ text: "Nothing more." }] }
    : {
        parts: [
          { search: "node 24 release", sources: [{ title: "Node 24 is out", url: "https://nodejs.org/24" }] },
          { text: "Node 24 is out." },
        ],
      };

/** Settings of the person, or of the project. */
function writeSettings(path: string, settings: object): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, JSON.stringify(settings), { mode: 0o600 });
}

const userFile = ({ env }: FixtureProject) =>
  join(env["XDG_CONFIG_HOME"] ?? join(env["HOME"] ?? "", ".config"), "hanzo/settings.json");
const MODEL = { net_search: { provider: "model" } };

test("the terminal shows what the model's provider searched and found, and a resume sends it back", async () => {
  await using opened = await openChat(SEARCH);
  const { terminal, project, provider } = opened;
  writeSettings(userFile(project), MODEL);
  await opened.start();
  terminal.type("what is new?\r");
  await terminal.shows("searched the web: node 24 release");
  await terminal.shows("Node 24 is out https://nodejs.org/24");
  await terminal.shows(/^Node 24 is out\.$/m);
  terminal.type("/quit\r");
  await terminal.shows(/--resume\s+\S+/);
  await opened.start("", "--continue");
  terminal.type("and now?\r");
  await terminal.shows("Nothing more.");
  expect(provider.requests.at(-1)?.raw).toContain('"encrypted_content"');
});

test.each([
  ["the person's settings", MODEL, {}, true],
  ["no settings", {}, {}, false],
  ["a project's settings", {}, MODEL, false],
  ["a denial of net.search", { ...MODEL, permissions: { "net.search": "deny" } }, {}, false],
])("with %s octant run offers the provider's search or does not", async (_title, user, own, isOffered) => {
  await using provider = await createScriptedProvider(() => ({ parts: [{ text: "Done." }] }));
  using project = createFixtureProject();
  writeSettings(userFile(project), user);
  writeSettings(join(project.root, ".hanzo/settings.json"), own);
  const env = { ...project.env, ...accountAt(provider) };
  const ran = await callOctant(["run", "look", "--mode", "plan"], { cwd: project.root, env });
  expect(ran.code, ran.stderr).toBe(0);
  expect(provider.requests[0]?.raw.includes("web_search_20250305")).toBe(isOffered);
});
