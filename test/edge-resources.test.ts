import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client, StreamableHTTPClientTransport, type Transport } from "@modelcontextprotocol/client";
import { afterAll, beforeAll, expect, inject, onTestFinished, test } from "vitest";
import { startNatsServer } from "../packages/wire/testing/nats-server.ts";
import { createFixtureProject, type FixtureProject } from "./fixture-project.ts";
import { startPrinting, stdioOf } from "./printing-command.ts";

const PIXEL =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";
const TOOLS = ["--tools", "ws,fs,code,proc,vcs,job"];

let project: FixtureProject;
let sockets: string;
let here: Awaited<ReturnType<typeof look>>;
beforeAll(async () => {
  project = createFixtureProject();
  sockets = realpathSync(mkdtempSync(join(tmpdir(), "octant-sockets-")));
  writeFileSync(join(project.root, "pixel.png"), Buffer.from(PIXEL, "base64"));
  const client = await connect(stdioOf(project, "serve", ...TOOLS));
  here = await look(client);
  await client.close();
});
afterAll(() => {
  project[Symbol.dispose]();
  rmSync(sockets, { recursive: true, force: true });
});

test("octant edge offers the same resources and completions as octant serve", async () => {
  const address = `ipc://${sockets}/a`;
  await startPrinting(project, "serve", "--zmq", address, ...TOOLS);
  expect(here.files).toContain(`file://${project.root}/README.md`);
  expect(here.read).toMatchObject({
    text: { text: "# Demo\n\nA small project.\n" },
    picture: { blob: PIXEL },
  });
  expect(here.completions).toMatchObject({
    path: expect.arrayContaining(["src/main.ts"]),
    symbol: ["answer"],
    tool: ["fs"],
    branch: ["main"],
  });
  const edge = await connect(stdioOf(project, "edge", "--via", address));
  onTestFinished(() => edge.close());
  expect(await look(edge)).toEqual(here);
});

test.skipIf(inject("missing").includes("nats-server"))(
  "an edge over NATS offers the resources and completions of its worker",
  async () => {
    const nats = await startNatsServer();
    onTestFinished(() => nats.stop());
    await startPrinting(project, "worker", "--nats", nats.url, ...TOOLS);
    const { url, token } = (await startPrinting(project, "serve", "--http", "--nats", nats.url)).printed;
    const requestInit = { headers: { authorization: `Bearer ${token}` } };
    const edge = await connect(new StreamableHTTPClientTransport(new URL(String(url)), { requestInit }));
    onTestFinished(() => edge.close());
    expect(await look(edge)).toEqual(here);
  },
);

/** Everything that a client can read, without values that differ between runs. */
async function look(client: Client) {
  const read = async (uri: string) => {
    const { contents } = await client.readResource({ uri });
    return contents[0];
  };
  const ran = await client.callTool({ name: "proc", arguments: { action: "exec", command: "echo from $0" } });
  const { stdout_ref } = (ran.structuredContent as { data: { stdout_ref: string } }).data;
  const { uri: _ref, ...output } = { uri: "", ...(await read(stdout_ref)) };
  const { resources } = await client.listResources();
  const isJob = ({ uri }: { uri: string }) => uri.startsWith("octant://job/");
  expect(resources.some(isJob)).toBe(true);
  const file = (name: string) => `file://${project.root}/${name}`;
  const complete = async (prompt: string, name: string, value: string) =>
    (await client.complete({ ref: { type: "ref/prompt", name: prompt }, argument: { name, value } }))
      .completion.values;
  const { prompts } = await client.listPrompts();
  const promptWith = (argument: string) =>
    prompts.find((prompt) => prompt.arguments?.some(({ name }) => name === argument))?.name ?? "";
  const template = async (uri: string, name: string, value: string) =>
    (await client.complete({ ref: { type: "ref/resource", uri }, argument: { name, value } })).completion
      .values;
  return {
    files: resources.filter((one) => !isJob(one)).map(({ uri }) => uri),
    templates: (await client.listResourceTemplates()).resourceTemplates,
    read: {
      text: await read(file("README.md")),
      picture: await read(file("pixel.png")),
      manual: await read("octant://manual/fs"),
      output,
    },
    missing: await client.readResource({ uri: file("absent") }).catch(({ code }) => code),
    completions: {
      path: await complete(promptWith("path"), "path", "src/"),
      symbol: await complete(promptWith("symbol"), "symbol", "ans"),
      tool: await template("octant://manual/{tool}", "tool", "f"),
      branch: await complete(promptWith("ref"), "ref", "ma"),
    },
  };
}

/** Starts a command that prints one line of JSON about itself. */

async function connect(transport: Transport): Promise<Client> {
  const client = new Client({ name: "test", version: "1" }, { versionNegotiation: { mode: "legacy" } });
  await client.connect(transport);
  return client;
}
