import { once } from "node:events";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createFixtureProject, type FixtureProject } from "./fixture-project.ts";
import { startOctant } from "./octant-process.ts";

const INITIALIZE = {
  jsonrpc: "2.0",
  id: 0,
  method: "initialize",
  params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "test", version: "1" } },
};

let project: FixtureProject;
beforeAll(() => {
  project = createFixtureProject();
});
afterAll(() => project[Symbol.dispose]());

/** A server after its handshake. At SIGUSR2 it runs `trouble` in the same process. */
async function serve({ flags = [], trouble = "" }: { flags?: string[]; trouble?: string } = {}) {
  const hook = `data:text/javascript,${encodeURIComponent(`process.on("SIGUSR2", () => { ${trouble} })`)}`;
  const env = { ...project.env, NODE_OPTIONS: `--import ${hook}` };
  const child = startOctant(["serve", ...flags], { cwd: project.root, env });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const log = text(child.stderr);
  const send = (message: object) => child.stdin.write(`${JSON.stringify(message)}\n`);
  const ask = async (method: string, params: object = {}) => {
    send({ jsonrpc: "2.0", id: 1, method, params });
    return JSON.parse(String((await lines.next()).value)).result;
  };
  send(INITIALIZE);
  await lines.next();
  send({ jsonrpc: "2.0", method: "notifications/initialized" });
  // The handshake may be answered from the cache; a call waits for the whole server.
  await ask("tools/call", { name: "fs", arguments: { action: "read", uri: "README.md" } });
  const ended = async () => {
    const [[code], stderr] = await Promise.all([once(child, "exit"), log]);
    return { code, stderr };
  };
  return { child, ask, ended };
}

type Server = Awaited<ReturnType<typeof serve>>["child"];

test.each([
  ["the end of stdin", (server: Server) => server.stdin.end()],
  ["SIGTERM", (server: Server) => server.kill("SIGTERM")],
  ["SIGINT", (server: Server) => server.kill("SIGINT")],
  ["SIGHUP", (server: Server) => server.kill("SIGHUP")],
])("at %s the server ends, with exit code 0 and not a word", async (_, end) => {
  const { child, ended } = await serve();
  end(child);
  expect(await ended()).toEqual({ code: 0, stderr: "" });
});

test("console output of any package goes to stderr, and stdout carries only the protocol", async () => {
  const { child, ask, ended } = await serve({
    trouble: "console.log('log'); console.info('info'); console.debug('debug')",
  });
  child.kill("SIGUSR2");
  await once(child.stderr, "data");
  expect(await ask("tools/list")).toHaveProperty("tools");
  child.stdin.end();
  // A slow machine has tested the sandbox by then, and says so.
  expect(await ended()).toEqual({
    code: 0,
    stderr: expect.stringMatching(/^log\ninfo\ndebug\n(octant: sandbox .*\n)?$/),
  });
});

test("an uncaught error is logged and ends the server with exit code 1", async () => {
  const { child, ended } = await serve({ trouble: "Promise.reject(new Error('broken'))" });
  child.kill("SIGUSR2");
  const { code, stderr } = await ended();
  expect(code).toBe(1);
  expect(stderr).toMatch(/^octant: ends after an uncaught error: Error: broken\\n.*\n$/);
});

test("endless work does not keep the server alive", async () => {
  const { child, ended } = await serve({ trouble: "setInterval(() => {}, 10); console.log('busy')" });
  child.kill("SIGUSR2");
  await once(child.stderr, "data");
  child.stdin.end();
  expect(await ended()).toEqual({
    code: 0,
    stderr: expect.stringMatching(/^busy\n(octant: sandbox .*\n)?$/),
  });
});

test("the flags reach the client: tools, profile and mode", async () => {
  const { child, ask, ended } = await serve({
    flags: ["--tools", "fs", "--profile", "split", "--mode", "inspect"],
  });
  const { tools } = await ask("tools/list");
  const names = tools.map(({ name }: { name: string }) => name);
  expect(names).toContain("fs_read");
  expect(names).not.toContain("fs_write");
  expect(names).not.toContain("ws_detect");
  child.stdin.end();
  await ended();
});
