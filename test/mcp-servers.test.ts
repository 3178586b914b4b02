import { once } from "node:events";
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createScriptedProvider, type Script } from "@octant/scripted-provider";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createFixtureProject, type FixtureProject } from "./fixture-project.ts";
import { callOctant } from "./octant-in-process.ts";
import { runOctant } from "./octant-process.ts";
import { LAUNCHER } from "./published-command.ts";
import { accountAt } from "./scripted-account.ts";
import { openSlashSession } from "./slash-session.ts";

const HOSTILE = join(import.meta.dirname, "../packages/mcp-client/testing/hostile-server.mjs");

let project: FixtureProject;
beforeAll(() => {
  project = createFixtureProject();
});
afterAll(() => project[Symbol.dispose]());

/** The command as a person starts it: once for every verb. */
const start = (args: readonly string[], input = "") =>
  runOctant(args, { cwd: project.root, env: project.env, input });
const run = (args: readonly string[], input = "") =>
  callOctant(args, { cwd: project.root, env: project.env, input });
const settingsFile = () => join(String(project.env["HOME"]), ".config/hanzo/settings.json");

test("a server is added, listed, tested and removed; comments in the settings stay", async () => {
  mkdirSync(dirname(settingsFile()), { recursive: true });
  writeFileSync(settingsFile(), '{\n  // mine\n  "model": "m"\n}\n');
  expect(await start(["mcp", "add", "self", "--", process.execPath, LAUNCHER, "serve"])).toMatchObject({
    code: 0,
  });
  expect(await run(["mcp", "add", "self", "--", "other"])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("ALREADY_EXISTS"),
  });
  expect((await start(["mcp", "list"])).stdout).toMatch(/^self +program/m);
  const tested = await start(["mcp", "test", "self"]);
  expect(tested.stdout).toContain("self: ready (octant");
  expect(tested.stdout).toContain("mcp__self__fs");
  expect(tested.code).toBe(0);
  expect(await start(["mcp", "remove", "self"])).toMatchObject({ code: 0 });
  expect(readFileSync(settingsFile(), "utf8")).toContain("// mine");
  expect((await run(["mcp", "list", "--json"])).stdout).toBe("[]\n");
  expect(await run(["mcp", "remove", "self"])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("NOT_FOUND"),
  });
});

test("a server that cannot start reports why", async () => {
  await run(["mcp", "add", "dead", "--", process.execPath, HOSTILE, "dead"]);
  const { code, stdout } = await run(["mcp", "test", "dead"]);
  expect(code).toBe(1);
  expect(stdout).toContain("I will not start today");
  await run(["mcp", "remove", "dead"]);
});

test("a server whose program the sandbox hides says so, and what to do", async () => {
  const hidden = mkdtempSync(join(tmpdir(), "octant-hidden-"));
  try {
    const program = join(hidden, "server.mjs");
    copyFileSync(HOSTILE, program);
    await run(["mcp", "add", "hidden", "--", process.execPath, program, "good"]);
    const { code, stdout } = await run(["mcp", "test", "hidden"]);
    expect(code).toBe(1);
    expect(stdout).toContain("the sandbox hides a file");
    expect(stdout).toContain(program);
    expect(stdout).toContain("sandbox.allowed_paths");
  } finally {
    rmSync(hidden, { recursive: true });
    await run(["mcp", "remove", "hidden"]);
  }
});

const CALL: Script = ({ answers, results }) =>
  answers === 0
    ? { parts: [{ call: "mcp__tools__echo", input: { a: 1 } }] }
    : { parts: [{ text: `It said ${results[0]?.text}` }] };

const runAgent = async (how: typeof callOctant, script: Script, prompt: string, ...flags: string[]) => {
  await using provider = await createScriptedProvider(script);
  const args = ["run", prompt, "--provider", "anthropic", "--model", "some-model", ...flags];
  const ran = await how(args, { cwd: project.root, env: { ...project.env, ...accountAt(provider) } });
  return { ...ran, requests: [...provider.requests] };
};

test("a run calls a server's tools under the rules for its name, and the audit log has the call", async () => {
  await run(["mcp", "add", "tools", "--", process.execPath, HOSTILE, "good"]);
  await run(["mcp", "add", "broken", "--", process.execPath, HOSTILE, "dead"]);
  const allowed = await runAgent(runOctant, CALL, "use the server", "--allow", "mcp__tools__*");
  expect(allowed).toMatchObject({ code: 0, stdout: 'It said {"a":1}\n' });
  expect(allowed.stderr).toMatch(/MCP server broken cannot be used: .*I will not start today/);
  const denied = await runAgent(callOctant, CALL, "use the server");
  expect(denied.code).toBe(5);
  expect(denied.stdout).toContain("APPROVAL_REQUIRED");
  expect((await run(["audit", "--json"])).stdout).toContain('"mcp__tools__echo"');
  await run(["mcp", "remove", "broken"]);
});

test("/mcp shows the state of each server, and a run names one that does not answer", async () => {
  for (const [name, how] of [
    ["able", "good"],
    ["broken", "dead"],
    ["silent", "mute"],
    ["unused", "good"],
  ] as const)
    await run(["mcp", "add", name, "--", process.execPath, HOSTILE, how]);
  const settings = readFileSync(settingsFile(), "utf8");
  writeFileSync(settingsFile(), settings.replace('"unused": {', '"unused": { "disabled": true,'));
  {
    await using session = await openSlashSession(project, []);
    const shown = () => session.run("/mcp");
    await expect.poll(shown, { timeout: 30_000 }).toMatch(/^- \*\*able\*\* connected, \d+ tools$/m);
    await expect
      .poll(shown, { timeout: 30_000 })
      .toMatch(/^- \*\*broken\*\* failed: .*it wrote: I will not start today/m);
    expect(await shown()).toContain("- **silent** starting\n- **unused** disabled");
  }
  const { code, stderr } = await runAgent(callOctant, [{ parts: [{ text: "done" }] }], "go");
  expect(code).toBe(0);
  expect(stderr).toContain(
    "MCP server silent has not answered within 5 s; the run starts without its tools\n",
  );
  for (const name of ["able", "broken", "silent", "unused"]) await run(["mcp", "remove", name]);
});

const CREW = /# Role/;

test("sub-agents use the servers' tools as far as their role may, and their unapproved calls count", async () => {
  const seen: Record<string, readonly string[]> = {};
  const script: Script = ({ system, answers, results, tools, user }) => {
    if (!CREW.test(system) && answers === 0)
      return {
        parts: ["code", "explore"].map((role) => ({
          call: "agent",
          input: { action: "spawn", role, task: `as ${role}` },
        })),
      };
    if (!CREW.test(system)) return { parts: [{ text: results.map(({ text }) => text).join("\n") }] };
    seen[user] = tools;
    if (user.includes("explore")) return { parts: [{ text: "explored" }] };
    return answers === 0
      ? { parts: [{ call: "mcp__tools__echo", input: { b: 2 } }] }
      : { parts: [{ text: `coded ${results[0]?.text}` }] };
  };
  const flags = ["--tools", "agent,core", "--allow", "agent.spawn"];
  const events = await runAgent(callOctant, script, "go", ...flags, "--allow", "mcp__*", "--stream-json");
  expect(events.stdout).toContain('coded {\\"b\\":2}');
  expect(seen["as code"]).toContain("mcp__tools__echo");
  expect(seen["as explore"]?.join(" ")).not.toContain("mcp__");
  const types = events.stdout.matchAll(/"type":"(tool_began|tool_ended)"/g).map(([, type]) => type);
  expect([...types].slice(0, 2)).toEqual(["tool_began", "tool_began"]);
  const refused = await runAgent(callOctant, script, "go", ...flags, "--json");
  expect(refused.code).toBe(5);
  expect(JSON.parse(refused.stdout)).toMatchObject({ unapproved: ["mcp__tools__echo"] });
});

test("a tool with a changed definition is not offered until the person accepts it", async () => {
  await run(["mcp", "add", "shifty", "--", process.execPath, HOSTILE, "changed", "1"]);
  await run(["mcp", "test", "shifty"]);
  await run(["mcp", "remove", "shifty"]);
  await run(["mcp", "add", "shifty", "--", process.execPath, HOSTILE, "changed", "2"]);
  expect((await run(["mcp", "test", "shifty"])).stdout).toContain("mcp__shifty__echo (changed)");
  expect(await start(["mcp", "accept", "shifty"])).toMatchObject({ code: 0 });
  expect((await run(["mcp", "test", "shifty"])).stdout).not.toContain("(changed)");
});

test("servers of other programs are imported on request", async () => {
  using own = createFixtureProject();
  const home = String(own.env["HOME"]);
  const write = (path: string, text: string) => {
    mkdirSync(dirname(join(home, path)), { recursive: true });
    writeFileSync(join(home, path), text);
  };
  write(
    ".claude.json",
    JSON.stringify({
      mcpServers: { docs: { type: "stdio", command: "docs", args: ["-x"], env: { A: "1" } } },
    }),
  );
  write(".codex/config.toml", '[mcp_servers.files]\ncommand = "files"\nargs = ["--ro"]\n');
  write(
    ".cursor/mcp.json",
    JSON.stringify({
      mcpServers: { web: { url: "https://mcp.example.com/mcp" }, docs: { command: "other" } },
    }),
  );
  write(
    ".gemini/settings.json",
    JSON.stringify({ mcpServers: { far: { httpUrl: "https://far.example/mcp?key=secret" } } }),
  );
  write(
    ".config/opencode/opencode.json",
    JSON.stringify({
      mcp: { local: { type: "local", command: ["local", "serve"], environment: { B: "2" } } },
    }),
  );
  const place = { cwd: own.root, env: own.env };
  const shown = await callOctant(["mcp", "import"], place);
  expect(shown.stdout).toContain("nothing was changed; --yes adds these");
  expect(shown.stdout).not.toContain("secret");
  expect(await runOctant(["mcp", "import", "--yes"], place)).toMatchObject({ code: 0 });
  const { mcp_servers } = JSON.parse(readFileSync(join(home, ".config/hanzo/settings.json"), "utf8"));
  expect(mcp_servers).toEqual({
    docs: { command: "docs", args: ["-x"], env: { A: "1" } },
    files: { command: "files", args: ["--ro"] },
    web: { url: "https://mcp.example.com/mcp" },
    far: { url: "https://far.example/mcp?key=secret" },
    local: { command: "local", args: ["serve"], env: { B: "2" } },
  });
  expect((await callOctant(["mcp", "import"], place)).stdout).toContain("nothing to import");
});

test("a server that requires a sign-in says how, and one without a sign-in page fails cleanly", async () => {
  const server = createServer((_request, response) => response.writeHead(401).end());
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
  try {
    await run(["mcp", "add", "web", url]);
    expect((await run(["mcp", "test", "web"])).stdout).toContain("octant mcp login web");
    expect(await run(["mcp", "login", "web"])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("UNAUTHENTICATED"),
    });
  } finally {
    server.closeAllConnections();
    server.close();
  }
});

/** A server that accepts the tokens of its own authorization server, which has one client with a secret. */
async function serveWithSecret() {
  const server = createServer(async (request, response) => {
    const origin = `http://${request.headers.host}`;
    const json = (value: unknown, status = 200, headers = {}) =>
      response
        .writeHead(status, { "content-type": "application/json", ...headers })
        .end(JSON.stringify(value));
    let body = "";
    for await (const chunk of request) body += chunk;
    const { pathname } = new URL(request.url ?? "", origin);
    if (pathname === "/.well-known/oauth-protected-resource/mcp")
      return json({ resource: `${origin}/mcp`, authorization_servers: [origin] });
    if (pathname === "/.well-known/oauth-authorization-server")
      return json({
        issuer: origin,
        authorization_endpoint: `${origin}/authorize`,
        token_endpoint: `${origin}/token`,
        response_types_supported: ["code"],
        grant_types_supported: ["client_credentials"],
        token_endpoint_auth_methods_supported: ["client_secret_basic"],
      });
    if (pathname === "/token") {
      const isKnown = request.headers.authorization === `Basic ${btoa("ci:very-secret")}`;
      return isKnown
        ? json({ access_token: "token-of-ci", token_type: "Bearer" })
        : json({ error: "invalid_client" }, 401);
    }
    if (pathname !== "/mcp" || request.headers.authorization !== "Bearer token-of-ci")
      return json({}, pathname === "/mcp" ? 401 : 404, { "www-authenticate": 'Bearer scope="tools"' });
    const { id, method } = JSON.parse(body || "{}");
    const serverInfo = { name: "secret", version: "1" };
    if (method === "initialize")
      return json({
        jsonrpc: "2.0",
        id,
        result: { protocolVersion: "2025-06-18", capabilities: { tools: {} }, serverInfo },
      });
    if (method === "tools/list")
      return json({
        jsonrpc: "2.0",
        id,
        result: { tools: [{ name: "hi", inputSchema: { type: "object" } }] },
      });
    if (id === undefined) return response.writeHead(202).end();
    return json({ jsonrpc: "2.0", id, error: { code: -32601, message: "no such method" } });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    [Symbol.dispose]() {
      server.closeAllConnections();
      server.close();
    },
  };
}

test("a program signs in with a secret from stdin, and a wrong secret is refused", async () => {
  using server = await serveWithSecret();
  const LOGIN = ["mcp", "login", "ci", "--machine"];
  const grant = (client_secret: string) =>
    JSON.stringify({ kind: "client_secret", client_id: "ci", client_secret });
  await run(["mcp", "add", "ci", server.url]);
  const refused = await run(LOGIN, grant("wrong"));
  expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining("UNAUTHENTICATED") });
  const signedIn = await start(LOGIN, grant("very-secret"));
  expect(signedIn).toMatchObject({ code: 0, stdout: "signed in to ci\n" });
  const tested = await run(["mcp", "test", "ci"]);
  expect(tested.stdout).toContain("mcp__ci__hi");
  expect(refused.stderr + tested.stdout + tested.stderr).not.toMatch(/very-secret|token-of-ci/);
  const misused = await run(LOGIN, "not JSON");
  expect(misused).toMatchObject({ code: 2, stderr: expect.stringContaining("client_secret") });
});

test("a run reads a server's resources: mentioned ones at once, the model's own under the rules", async () => {
  const script: Script = ({ answers, results }) => {
    if (answers === 0)
      return {
        parts: [
          { call: "mcp_resources", input: { action: "list" } },
          { call: "mcp_resources", input: { action: "read", server: "notes", uri: "notes://monday" } },
        ],
      };
    return { parts: [{ text: results.map(({ text }) => text).join("|") }] };
  };
  await run(["mcp", "add", "notes", "--", process.execPath, HOSTILE, "offers"]);
  const tested = (await run(["mcp", "test", "notes"])).stdout;
  expect(tested).toMatch(/^\/notes:review +Review a file$/m);
  expect(tested).toMatch(/^@notes:notes:\/\/today +Notes of the day$/m);
  const prompt = "about @notes:notes://today";
  const { code, stdout, requests } = await runAgent(
    callOctant,
    script,
    prompt,
    "--allow",
    "mcp_resources.read",
  );
  expect(code).toBe(0);
  expect(stdout).toContain("notes notes://today today: Notes of the day\nnotes notes://{day} day");
  expect(stdout).toContain("note notes://monday");
  expect(JSON.stringify(requests[0]?.body)).toContain("note notes://today");
  const denied = await runAgent(callOctant, script, prompt);
  expect(denied).toMatchObject({ code: 5, stdout: expect.stringContaining("APPROVAL_REQUIRED") });
});
