import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { createScriptedProvider } from "@octant/scripted-provider";
import { createZmqClient } from "@octant/wire";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createFixtureProject, type FixtureProject } from "./fixture-project.ts";
import { runOctant } from "./octant-process.ts";
import { startPrinting } from "./printing-command.ts";

/** One action for each thing that the agent sees of a pack. */
const MODULE = `
import { action, defineTool } from "@octant/core";
import { z } from "zod";
const act = (run, input = {}) => action({
  summary: "Do it.", access: "read", timing: "sync", intent: "inspect",
  input: z.strictObject(input), output: z.any(), examples: [{ title: "Do it", input: {} }], run,
});
export const tools = [defineTool({
  name: "probe",
  summary: "Probes.",
  actions: {
    home: act(() => ({ home: process.env.HOME })),
    fetch: act(async ({ url }) => {
      const answer = await fetch(url).catch(() => undefined);
      return { reached: answer?.status === 200 };
    }, { url: z.string() }),
    crash: act(() => process.abort()),
  },
})];
`;

let project: FixtureProject;
let pack: string;
let port: number;
const server = createServer((_, answer) => answer.end("hi"));
beforeAll(async () => {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  // A server that listens on TCP has an address of this type.
  port = (server.address() as AddressInfo).port;
  project = createFixtureProject();
  pack = join(project.root, "../probe");
  mkdirSync(pack);
  const octant = { pack: "probe", rights: { network: [`127.0.0.1:${port}`] } };
  const peers = { peerDependencies: { "@octant/core": "*" } };
  writeFileSync(
    join(pack, "package.json"),
    JSON.stringify({ type: "module", exports: "./index.js", octant, ...peers }),
  );
  writeFileSync(join(pack, "index.js"), MODULE);
});
afterAll(() => {
  server.close();
  project[Symbol.dispose]();
});

const octant = (env: NodeJS.ProcessEnv, ...args: readonly string[]) =>
  runOctant(args, { cwd: project.root, env: { ...project.env, ...env } });

/** An agent that makes these calls, one after the other; the text of each result. */
async function runAgent(calls: readonly (readonly [tool: string, input: object])[]) {
  const texts: string[] = [];
  await using model = await createScriptedProvider(({ answers, results }) => {
    if (answers > 0) texts.push(String(results[0]?.text));
    const [tool, input] = calls[answers] ?? [];
    return tool === undefined ? { parts: [{ text: "done" }] } : { parts: [{ call: tool, input }] };
  });
  const env = { ANTHROPIC_API_KEY: "sk-test-0", ANTHROPIC_BASE_URL: model.baseUrl("anthropic") };
  const ran = await octant(env, "run", "probe it", "--provider", "anthropic", "--model", "m");
  expect(ran).toMatchObject({ code: 0, stdout: expect.stringContaining("done") });
  return { texts, stderr: ran.stderr };
}

test("an agent uses a pack in its own process: its network right holds, and its crash costs one call", async () => {
  const added = await octant({}, "pack", "add", pack, "--yes");
  expect(added.stdout).toContain(`reach 127.0.0.1:${port}; start no programs`);
  const { texts, stderr } = await runAgent([
    ["probe", { action: "fetch", url: `http://127.0.0.1:${port}/` }],
    ["probe", { action: "fetch", url: `http://127.0.0.1:${port + 1}/` }],
    ["probe", { action: "crash" }],
    ["fs", { action: "read", uri: "README.md" }],
    ["probe", { action: "home" }],
  ]);
  const [reached, refused, crashed, other, home] = texts;
  expect(reached).toContain("true");
  expect(refused).toContain("false");
  expect(crashed).toMatch(/UPSTREAM_ERROR.*pack 'probe' ended/s);
  // Neither the trace nor the paths of the crash.
  expect(crashed).not.toContain("stack trace");
  expect(other).toContain("A small project.");
  expect(home).toContain("/tmp");
  expect(stderr).toContain(`refused a connection: 127.0.0.1:${port + 1} is not among the hosts`);
});

test("a deny rule for the host closes what the right has opened", async () => {
  const settings = join(project.root, ".hanzo/settings.json");
  const rule = { tool_pattern: "probe.*", mode: "deny", args: { host: `127.0.0.1:${port}` } };
  mkdirSync(join(project.root, ".hanzo"), { recursive: true });
  writeFileSync(settings, JSON.stringify({ permissions: [rule] }));
  const called = await octant({}, "call", "probe.fetch", `url=http://127.0.0.1:${port}/`, "--json");
  writeFileSync(settings, "{}");
  expect(JSON.parse(called.stdout)).toMatchObject({ ok: true, data: { reached: false } });
});

test("an agent uses a pack in Octant's own process, with the person's rights", async () => {
  expect(await octant({}, "pack", "remove", "probe")).toMatchObject({ code: 0 });
  expect(await octant({}, "pack", "add", pack, "--in-process", "--yes")).toMatchObject({ code: 0 });
  const { texts } = await runAgent([["probe", { action: "home" }]]);
  expect(texts[0]).toContain(String(project.env["HOME"]));
});

test("octant pack run serves one pack with its rights, and no other tools of Octant", async () => {
  const address = `ipc://${join(project.root, "../probe.sock")}`;
  await startPrinting(project, "pack", "run", pack, "--zmq", address);
  const client = createZmqClient({ address });
  const call = async (tool: string, action: string, input: object = {}) =>
    (await client.dispatch({ tool, action, input }, { caller: { id: "wire", access: "admin" } })).envelope;
  const fetched = (url: string) => call("probe", "fetch", { url });
  expect(await fetched(`http://127.0.0.1:${port}/`)).toMatchObject({ data: { reached: true } });
  expect(await fetched(`http://127.0.0.1:${port + 1}/`)).toMatchObject({ data: { reached: false } });
  expect(await call("probe", "home")).toMatchObject({ data: { home: "/tmp" } });
  expect(await call("job", "list")).toMatchObject({ ok: true });
  expect(await call("fs", "list", { uri: "." })).toMatchObject({ error: { code: "UNKNOWN_TOOL" } });
  client.close();
});
