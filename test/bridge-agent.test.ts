import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createScriptedProvider } from "@octant/scripted-provider";
import { expect, test } from "vitest";
import { type BridgeClient, connect, createTestIssuer, startBridge } from "./bridge-client.ts";
import { createFixtureProject } from "./fixture-project.ts";
import { LAUNCHER } from "./published-command.ts";
import { accountAt } from "./scripted-account.ts";

const sessionsOf = async (client: BridgeClient) => {
  const { result } = (await client.request("session/list", {})) as {
    result: { sessions: { sessionId: string }[] };
  };
  return result.sessions.map(({ sessionId }) => sessionId);
};

test("an owner's page works with the agent, approves its edit, and no other owner sees the session", async () => {
  await using provider = await createScriptedProvider((request) =>
    request.answers === 0
      ? {
          parts: [
            { text: "one two three" },
            { call: "fs", input: { action: "write", uri: "new.txt", content: "from the page\n" } },
          ],
          chunks: "byte",
        }
      : { parts: [{ text: "done" }] },
  );
  await using issuer = await createTestIssuer();
  using project = createFixtureProject();
  await using bridge = await startBridge(
    project,
    issuer,
    ["--provider", "anthropic", "--model", "some-model"],
    {
      ...accountAt(provider),
    },
  );
  const asked: unknown[] = [];
  const answer = (method: string, params: unknown) => {
    asked.push({ method, params });
    return { outcome: { outcome: "selected", optionId: "once" } };
  };
  const open = async (owner: string) => {
    const client = await connect(bridge.url, await issuer.sign({ owner }), { path: "/agent", answer });
    const clientCapabilities = { fs: { readTextFile: true, writeTextFile: true }, terminal: true };
    await client.request("initialize", { protocolVersion: 1, clientCapabilities });
    return client;
  };
  using ann = await open("ann");
  using bob = await open("bob");
  const created = await ann.request("session/new", { cwd: project.root, mcpServers: [] });
  const { sessionId } = (created as { result: { sessionId: string } }).result;
  const prompt = [{ type: "text", text: "write it" }];
  expect(await ann.request("session/prompt", { sessionId, prompt })).toMatchObject({
    result: { stopReason: "end_turn" },
  });
  expect(readFileSync(join(project.root, "new.txt"), "utf8")).toBe("from the page\n");
  // No rule for everybody on this machine, and the page is not asked for its own files.
  expect(asked).toHaveLength(1);
  expect(JSON.stringify(asked)).not.toContain('"always"');
  const text = ann.frames
    .map(
      (frame) =>
        (frame as { params?: { update?: { content?: { text?: string } } } }).params?.update?.content?.text,
    )
    .join("");
  expect(text).toContain("one two three");

  expect(await sessionsOf(ann)).toEqual([sessionId]);
  expect(await sessionsOf(bob)).toEqual([]);
  for (const method of ["session/load", "session/resume"])
    expect(await bob.request(method, { sessionId, cwd: project.root, mcpServers: [] })).toMatchObject({
      error: { code: -32002 },
    });
  await bob.request("session/delete", { sessionId });
  expect(await sessionsOf(ann)).toEqual([sessionId]);
  expect(bob.frames.filter(({ method }) => method !== undefined)).toEqual([]);

  const evil = { name: "evil", command: "touch", args: [join(project.root, "evil")], env: [] };
  for (const params of [
    { cwd: "/", mcpServers: [] },
    { cwd: project.root, additionalDirectories: ["/etc"], mcpServers: [] },
    { cwd: project.root, mcpServers: [evil] },
  ])
    expect(await bob.request("session/new", params)).toMatchObject({ error: { code: -32602 } });
});

test("a form of an MCP server reaches the page, whole or as choices, and the page's answer counts", async () => {
  await using provider = await createScriptedProvider((request) =>
    request.results.length === 0 && request.tools.includes("mcp__other__fs")
      ? {
          parts: [
            {
              call: "mcp__other__fs",
              input: { action: "write", uri: `${request.user}.txt`, content: "x" },
            },
          ],
        }
      : { parts: [{ text: "done" }] },
  );
  await using issuer = await createTestIssuer();
  using project = createFixtureProject();
  const args = [LAUNCHER, "serve", "--tools", "fs", "--permissions", "enforce", "--root", project.root];
  const settings = { mcp_servers: { other: { command: process.execPath, args } } };
  mkdirSync(join(project.env["HOME"] ?? "", ".config/hanzo"), { recursive: true });
  writeFileSync(join(project.env["HOME"] ?? "", ".config/hanzo/settings.json"), JSON.stringify(settings));
  await using bridge = await startBridge(
    project,
    issuer,
    ["--provider", "anthropic", "--model", "some-model"],
    { ANTHROPIC_API_KEY: "sk-test-0123456789abcdef", ANTHROPIC_BASE_URL: provider.baseUrl("anthropic") },
  );
  const asked: string[] = [];
  const answer = (method: string, params: unknown) => {
    asked.push(method);
    if (method === "elicitation/create") return { action: "accept", content: { answer: "once" } };
    const { options } = params as { options: { name: string; optionId: string }[] };
    const optionId = options.find(({ name }) => name === "once" || name === "Send")?.optionId ?? "once";
    return { outcome: { outcome: "selected", optionId } };
  };
  for (const [name, clientCapabilities] of Object.entries({
    choices: {},
    form: { elicitation: { form: {} } },
  })) {
    using page = await connect(bridge.url, await issuer.sign({ owner: "ann" }), { path: "/agent", answer });
    await page.request("initialize", { protocolVersion: 1, clientCapabilities });
    const created = await page.request("session/new", { cwd: project.root, mcpServers: [] });
    const { sessionId } = (created as { result: { sessionId: string } }).result;
    const written = async () => {
      await page.request("session/prompt", { sessionId, prompt: [{ type: "text", text: name }] });
      return existsSync(join(project.root, `${name}.txt`));
    };
    // The server may connect after the first prompt.
    await expect.poll(written, { timeout: 40_000, interval: 500 }).toBe(true);
    expect(asked.includes("elicitation/create")).toBe(name === "form");
  }
});
