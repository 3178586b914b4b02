import { mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createScriptedProvider } from "@octant/scripted-provider";
import { expect, test, vi } from "vitest";
import { createFixtureProject } from "./fixture-project.ts";
import { OFFLINE } from "./offline.ts";
import { openTerminal } from "./pty-terminal.ts";

const KEY = "sk-typed-by-a-person-0123456789";

async function start(more: (url: string) => NodeJS.ProcessEnv, prepare: (root: string) => void = () => {}) {
  const provider = await createScriptedProvider(() => ({ parts: [{ text: "I am here." }] }), {
    models: ["tiny-coder", "big-coder"],
  });
  const project = createFixtureProject();
  prepare(project.root);
  const terminal = openTerminal(project.root, { ...project.env, ...more(provider.url) });
  await terminal.shows("$");
  const settings = (name: string) => join(project.env["HOME"] ?? "", ".config/hanzo", name);
  return {
    provider,
    terminal,
    settings,
    async [Symbol.asyncDispose]() {
      await terminal[Symbol.asyncDispose]();
      await provider[Symbol.asyncDispose]();
      project[Symbol.dispose]();
    },
  };
}

/** The number of an offer; other servers may run on this machine. */
async function numberOf(shown: Promise<string[]>, offer: string): Promise<string> {
  const line = (await shown).find((row) => row.includes(offer)) ?? "";
  return /^\s*(\d+) /.exec(line)?.[1] ?? `no offer ${offer}`;
}

test("the first run accepts a key without showing it, asks for trust in the folder, and continues as the agent", async () => {
  await using opened = await start(
    () => ({ OLLAMA_HOST: "127.0.0.1:9", ...OFFLINE }),
    (root) => writeFileSync(join(root, "AGENTS.md"), "Answer in one sentence.\n"),
  );
  const { terminal, provider, settings } = opened;
  terminal.type("$OCTANT --provider anthropic\r");
  await terminal.shows("API key of anthropic");
  terminal.type("not a key\r");
  await terminal.shows(/a key is one word[\s\S]*API key of anthropic/);
  terminal.type(`${KEY}\r`);
  await terminal.shows("the key was not checked: anthropic could not be reached at api.anthropic.com");
  await terminal.shows("| Answer in one sentence.");
  await terminal.shows("Let all of this take effect?");
  terminal.type("y\r");
  await terminal.shows("ask, or / for commands");
  terminal.type("/quit\r");
  await terminal.shows("resumes this session");
  terminal.type(`ANTHROPIC_BASE_URL=${provider.url} $OCTANT chat 'are you there?'\r`);
  await terminal.shows("I am here.");
  expect(terminal.written).not.toContain(KEY);
  expect(provider.requests[0]?.headers["x-api-key"]).toBe(KEY);
  expect(provider.requests[0]?.system).toContain("Answer in one sentence.");
  expect(statSync(settings("credentials.json")).mode & 0o777).toBe(0o600);
});

test("the first run finds a local model, and the next start needs no input", async () => {
  await using opened = await start((url) => ({ OLLAMA_HOST: url }));
  const { terminal, provider, settings } = opened;
  terminal.type("$OCTANT\r");
  await terminal.shows("Which one?");
  await terminal.shows("tiny-coder, big-coder");
  terminal.type("99\r");
  await terminal.shows(/a number from 1 to[\s\S]*Which one\?/);
  terminal.type(`${await numberOf(terminal.all(), "Ollama on this machine")}\r`);
  await terminal.shows("Which model?");
  terminal.type("2\r");
  await terminal.shows("ask, or / for commands");
  terminal.type("hello\r");
  await terminal.shows("I am here.");
  expect(provider.requests[0]).toMatchObject({ api: "openai-chat", body: { model: "big-coder" } });
  expect(JSON.parse(readFileSync(settings("settings.json"), "utf8"))).toEqual({
    base_url: `${provider.url}/v1`,
    model: "big-coder",
  });
  terminal.type("/quit\r");
  await terminal.shows("resumes this session");
  terminal.type("$OCTANT chat 'hello again'\r");
  await terminal.shows("› hello again");
  await expect.poll(() => provider.requests.length).toBe(2);
});

test("the person chooses among the models of their own server, by number or name", async () => {
  await using opened = await start((url) => ({ OPENAI_BASE_URL: `${url}/v1` }));
  const { terminal, provider, settings } = opened;
  terminal.type("$OCTANT chat hello\r");
  await terminal.shows(/has several models:\s+1 {2}tiny-coder\s+2 {2}big-coder\s+Which model\? \[1-2\]/);
  terminal.type("2\r");
  await terminal.shows("I am here.");
  expect(provider.requests[0]).toMatchObject({ api: "openai-chat", body: { model: "big-coder" } });
  // It is not asked again for a new conversation, and nothing is stored: the address is of this shell alone.
  terminal.type("/clear\r");
  await terminal.shows(/big-coder · main/);
  expect(() => statSync(settings("settings.json"))).toThrow("ENOENT");
  terminal.type("/quit\r");
  await terminal.shows("resumes this session");
  terminal.type("$OCTANT chat again\r");
  await terminal.shows(/chat again[\s\S]*Which model\?/);
  terminal.type("tiny-coder\r");
  await expect.poll(() => provider.requests.length, { timeout: 20_000 }).toBe(2);
  expect(provider.requests[1]?.body).toMatchObject({ model: "tiny-coder" });
});

test("leaving the first run with Ctrl-C changes nothing and exits with 1", async () => {
  await using opened = await start(() => ({ OLLAMA_HOST: "127.0.0.1:9" }));
  const { terminal, settings } = opened;
  terminal.type("$OCTANT; echo exit $?\r");
  await terminal.shows("Which one?");
  terminal.type("\x03");
  await terminal.shows(/^exit 1$/m);
  expect(() => statSync(settings("credentials.json"))).toThrow("ENOENT");
});

test("with a key, too, every start asks once about what waits for trust, and again when it changes", async () => {
  const files = {
    "AGENTS.md": "Answer in one sentence.\n",
    ".hanzo/settings.json": '{"env": {"STAGE": "test"}}',
  };
  const put = (root: string) => {
    mkdirSync(join(root, ".hanzo"), { recursive: true });
    for (const [path, text] of Object.entries(files)) writeFileSync(join(root, path), text);
  };
  let root = "";
  await using opened = await start(
    (url) => ({ ANTHROPIC_API_KEY: KEY, ANTHROPIC_BASE_URL: url }),
    (folder) => {
      root = folder;
      put(folder);
    },
  );
  const { terminal, provider } = opened;
  const count = async (text: string) => (await terminal.all()).filter((row) => row.includes(text)).length;
  const begin = () => terminal.type("$OCTANT --model m\r");
  const leave = async (times: number) => {
    await terminal.shows("ask, or / for commands");
    terminal.type("/quit\r");
    await vi.waitFor(async () => expect(await count("resumes this session")).toBe(times), {
      timeout: 30_000,
    });
  };
  begin();
  await terminal.shows('env.STAGE: "test"');
  await terminal.shows("| Answer in one sentence.");
  await terminal.shows("Let all of this take effect?");
  terminal.type("n\r");
  await terminal.shows("AGENTS.md has no effect until you trust it");
  await leave(1);
  // The same content is not asked about again.
  begin();
  await leave(2);
  expect(await count("Let all of this take effect?")).toBe(1);
  writeFileSync(join(root, "AGENTS.md"), "Answer in two sentences.\n");
  begin();
  await terminal.shows(/two sentences\.\s+Let all of this take effect\?/);
  terminal.type("y\r");
  await terminal.shows(/take effect\? \[y\/N\] y[\s\S]*ask, or \/ for commands/);
  terminal.type("hello\r");
  await terminal.shows("I am here.");
  expect(provider.requests[0]?.system).toContain("Answer in two sentences.");
  await leave(3);
}, 90_000);
