import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { PassThrough } from "node:stream";
import { createOctant } from "@octant/app";
import { defineTool } from "@octant/core";
import { createWatcher, type Watcher } from "@octant/host";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { createMcpFeatures } from "../packages/app/src/mcp/features.ts";
import { connectInProcess } from "../packages/mcp/testing/in-process.ts";
import { createFixtureProject } from "./fixture-project.ts";

const PIXEL =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";
const MANY_LINES = 200_000;
const MANY_FILES = 250;

let base: string;
let root: string;
let octant: ReturnType<typeof createOctant>;
let watcher: Watcher;

beforeAll(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "octant-features-")));
  root = join(base, "project");
  for (const folder of ["src", "many"]) mkdirSync(join(root, folder), { recursive: true });
  for (let count = 0; count < MANY_FILES; count++) writeFileSync(join(root, "many", `${count}.txt`), "");
  writeFileSync(join(root, "README.md"), "# Demo\n");
  writeFileSync(join(root, "src/main.ts"), "export const answer = 42;\n");
  writeFileSync(join(root, "pixel.png"), Buffer.from(PIXEL, "base64"));
  writeFileSync(join(root, "data.bin"), Uint8Array.from([0, 1, 2, 255]));
  writeFileSync(join(root, "long.txt"), "a line\n".repeat(MANY_LINES));
  writeFileSync(join(base, "secret.txt"), "not yours\n");
  octant = createOctant({ projectPath: root, env: { HOME: base, PATH: process.env["PATH"] ?? "" } });
  watcher = createWatcher(octant.workspace);
});
afterAll(async () => {
  await watcher.close();
  await octant.close();
  rmSync(base, { recursive: true, force: true });
});

const at = (name: string) => `file://${join(root, name)}`;

async function connect(versionNegotiation: { mode: "legacy" | "auto" }) {
  const { registry, dispatch } = octant;
  const features = createMcpFeatures({ ...octant, watcher });
  const service = { registry, dispatch, name: "octant", version: "1", log: () => {}, ...features };
  const { client, close } = await connectInProcess(service, { versionNegotiation });
  onTestFinished(close);
  return { client };
}

const textOf = (contents: readonly object[]) => (contents[0] as { text?: string }).text ?? "";

describe.each([
  { era: "handshake", negotiation: { mode: "legacy" } },
  { era: "modern", negotiation: { mode: "auto" } },
] as const)("what Octant offers beside its tools, to a client of the $era era", ({ era, negotiation }) => {
  test("declares its features", async () => {
    const { client } = await connect(negotiation);
    expect(client.getServerCapabilities()).toMatchObject({
      tools: { listChanged: true },
      resources: { subscribe: true, listChanged: true },
      prompts: {},
      completions: {},
    });
    expect(client.getServerVersion()).toMatchObject({ name: "octant", title: "Octant" });
    if (era === "handshake")
      expect(client.getServerVersion()).toMatchObject({ icons: [{ mimeType: "image/svg+xml" }] });
  });

  test("files, the manual and jobs are listed in pages, each file once", async () => {
    const { client } = await connect(negotiation);
    const uris: string[] = [];
    let cursor: string | undefined;
    let pages = 0;
    do {
      const page = await client.request({ method: "resources/list", params: { ...(cursor && { cursor }) } });
      uris.push(...page.resources.map(({ uri }) => uri));
      cursor = page.nextCursor;
      pages++;
    } while (cursor !== undefined);
    expect(pages).toBeGreaterThan(1);
    expect(uris).toEqual(expect.arrayContaining(["octant://manual/fs", at("README.md"), at("src/main.ts")]));
    expect(uris.filter((uri) => uri.startsWith(at("many/")))).toHaveLength(MANY_FILES);
    expect(new Set(uris).size).toBe(uris.length);
    const asked = client.request({ method: "resources/list", params: { cursor: "made up" } });
    await expect(asked).rejects.toMatchObject({ code: -32602, data: { code: "INVALID_CURSOR" } });
    const { resourceTemplates } = await client.listResourceTemplates();
    expect(resourceTemplates.map(({ uriTemplate }) => uriTemplate)).toContain("file:///{+path}");
  });

  test("a client with the list is notified when files, jobs or tools appear and disappear", async () => {
    const { client } = await connect(negotiation);
    let told = 0;
    let look = () => {};
    client.setNotificationHandler("notifications/resources/list_changed", () => {
      told++;
      look();
    });
    const times = (count: number) =>
      new Promise<void>((resolve) => {
        look = () => told >= count && resolve();
        look();
      });
    if (era === "modern") await client.listen({ resourcesListChanged: true });
    await client.listResources();
    await watcher.ready();
    const path = join(root, `src/come-and-go [${era}].txt`);
    onTestFinished(() => rmSync(path, { force: true }));
    writeFileSync(path, "here");
    await times(1);
    rmSync(path);
    await times(2);
    await client.callTool({ name: "proc", arguments: { action: "exec", command: "true" } });
    await times(3);
    octant.addTool(defineTool({ name: "later", summary: "Came later.", actions: {} }));
    await times(4);
    octant.removeTool("later");
    await times(5);
    expect(told).toBe(5);
  });

  test("text is read as text, everything else as bytes", async () => {
    const { client } = await connect(negotiation);
    const read = async (uri: string) => (await client.readResource({ uri })).contents;
    expect(await read(at("README.md"))).toEqual([
      { uri: at("README.md"), mimeType: "text/plain", text: "# Demo\n" },
    ]);
    expect(await read(at("pixel.png"))).toEqual([
      { uri: at("pixel.png"), mimeType: "image/png", blob: PIXEL },
    ]);
    expect(await read(at("data.bin"))).toMatchObject([{ blob: "AAEC/w==" }]);
    const long = textOf(await read(at("long.txt")));
    expect(long).toContain("[left out: ");
    expect(long.length).toBeLessThan(1_100_000);
  });

  test("the manual, the output of a process and the log of a job can be read", async () => {
    const { client } = await connect(negotiation);
    expect(textOf((await client.readResource({ uri: "octant://manual/fs/read" })).contents)).toContain(
      "max_bytes",
    );
    expect(textOf((await client.readResource({ uri: "octant://manual" })).contents)).toContain("## fs");
    const ran = await client.callTool({ name: "proc", arguments: { action: "exec", command: "echo hello" } });
    const { proc_id } = (ran.structuredContent as unknown as { data: { proc_id: string } }).data;
    expect(textOf((await client.readResource({ uri: `stdout:${proc_id}` })).contents)).toBe("hello\n");
    const { resources } = await client.listResources();
    const job = resources.find(({ uri }) => uri.startsWith("octant://job/"));
    expect(textOf((await client.readResource({ uri: job?.uri ?? "" })).contents)).toContain(
      "proc.exec is complete",
    );
  });

  test("a resource that is missing, or outside the workspace, is not found", async () => {
    const { client } = await connect(negotiation);
    for (const uri of [
      at("absent"),
      at("src"),
      `file://${base}/secret.txt`,
      "file:///etc/passwd",
      "octant://manual/nope",
      "octant://job/nope",
      "https://example.com/",
      "../secret.txt",
      "",
    ])
      await expect(client.readResource({ uri }), uri).rejects.toMatchObject({ code: -32602, data: { uri } });
  });

  test("prompts name the available tools in order", async () => {
    const { client } = await connect(negotiation);
    const { prompts } = await client.listPrompts();
    expect(prompts.map(({ name }) => name)).toEqual([
      "review_change",
      "fix_failing_test",
      "explain_symbol",
      "plan_change",
    ]);
    const { messages } = await client.getPrompt({
      name: "fix_failing_test",
      arguments: { test: "adds", path: "src" },
    });
    const text = textOf([messages[0]?.content ?? {}]);
    expect(text).toContain("the test 'adds' pass in src");
    expect(text.indexOf("test.run")).toBeLessThan(text.indexOf("fs.apply_patch"));
    for (const [, tool] of text.matchAll(/\b([a-z]+)\.[a-z_]+\b/g))
      expect(octant.registry.list().map(({ name }) => name)).toContain(tool);
    await expect(client.getPrompt({ name: "plan_change", arguments: {} })).rejects.toMatchObject({
      code: -32602,
    });
    await expect(client.getPrompt({ name: "nope" })).rejects.toMatchObject({ code: -32602 });
  });

  test("paths, symbols, tools, jobs and processes are completed", async () => {
    const { client } = await connect(negotiation);
    const complete = async (ref: object, name: string, value: string, others?: Record<string, string>) =>
      (
        await client.complete({
          // One of the two kinds of reference.
          ref: ref as never,
          argument: { name, value },
          ...(others && { context: { arguments: others } }),
        })
      ).completion.values;
    const prompt = { type: "ref/prompt", name: "explain_symbol" };
    const template = (uri: string) => ({ type: "ref/resource", uri });
    expect(await complete(prompt, "path", "")).toEqual(expect.arrayContaining(["README.md", "src/"]));
    expect(await complete(prompt, "path", "src/m")).toEqual(["src/main.ts"]);
    expect(await complete(prompt, "path", "../")).toEqual([]);
    expect(await complete(prompt, "symbol", "ans")).toEqual(["answer"]);
    const path = root.slice(1);
    expect(await complete(template("file:///{+path}"), "path", "")).toEqual([`${path}/`]);
    expect(await complete(template("file:///{+path}"), "path", `${path}/READ`)).toEqual([
      `${path}/README.md`,
    ]);
    expect(await complete(template("octant://manual/{tool}"), "tool", "f")).toEqual(["fs"]);
    expect(
      await complete(template("octant://manual/{tool}/{action}"), "action", "rea", { tool: "fs" }),
    ).toEqual(["read"]);
    await client.callTool({ name: "proc", arguments: { action: "exec", command: "true" } });
    expect((await complete(template("stdout:{proc_id}"), "proc_id", "proc_")).length).toBeGreaterThan(0);
    expect((await complete(template("octant://job/{job_id}"), "job_id", "job_")).length).toBeGreaterThan(0);
    await expect(complete({ type: "ref/prompt", name: "nope" }, "x", "")).rejects.toMatchObject({
      code: -32602,
    });
  });
});

test("branches, tags and commits are completed where a prompt takes a ref", async () => {
  const project = createFixtureProject();
  const repository = createOctant({ projectPath: project.root, env: project.env });
  onTestFinished(async () => {
    await repository.close();
    project[Symbol.dispose]();
  });
  const git = (...args: string[]) =>
    execFileSync("git", args, { cwd: project.root, env: project.env, encoding: "utf8" }).trim();
  git("branch", "feature/one");
  git("tag", "v1.0");
  const [input, output] = [new PassThrough(), new PassThrough()];
  const server = repository.serveStdio({ input, output });
  onTestFinished(() => server.close());
  const lines = createInterface({ input: output })[Symbol.asyncIterator]();
  const complete = async (value: string) => {
    const params = { ref: { type: "ref/prompt", name: "review_change" }, argument: { name: "ref", value } };
    input.write(`${JSON.stringify({ jsonrpc: "2.0", id: 1, method: "completion/complete", params })}\n`);
    const { value: line = "" } = await lines.next();
    return JSON.parse(line).result.completion.values;
  };
  const hashes = git("log", "--format=%H").split("\n");
  const names = ["feature/one", "main", "v1.0"];
  expect((await complete("")).sort()).toEqual([...hashes, ...names].sort());
  expect(await complete("feature")).toEqual(["feature/one"]);
  expect(await complete(hashes[1] ?? "")).toEqual([hashes[1]]);
});

describe.each(["legacy", "auto"] as const)("rules for fs.read hold for resources (%s)", (mode) => {
  /** A server with one rule, and a client whose person says yes. */
  async function connectRuled(rule: "deny" | "prompt") {
    const home = join(base, `${rule}-${mode}`);
    mkdirSync(join(home, ".config/hanzo"), { recursive: true });
    const permissions = [{ tool_pattern: "fs.read", mode: rule, reason: "not today" }];
    writeFileSync(join(home, ".config/hanzo/settings.json"), JSON.stringify({ permissions }));
    const env = { HOME: home, PATH: process.env["PATH"] ?? "" };
    const ruled = createOctant({ projectPath: root, env, permissions: "enforce" });
    const { registry, dispatch } = ruled;
    const service = {
      registry,
      dispatch,
      name: "octant",
      version: "1",
      log: () => {},
      ...createMcpFeatures({ ...ruled, watcher }),
    };
    const options = { versionNegotiation: { mode }, capabilities: { elicitation: { form: {} } } };
    const { client, close } = await connectInProcess(service, options);
    onTestFinished(async () => {
      await close();
      await ruled.close();
    });
    const asked: string[] = [];
    client.setRequestHandler("elicitation/create", async ({ params }) => {
      asked.push(params.message);
      return { action: "accept", content: { answer: "once" } };
    });
    return { asked, read: () => client.readResource({ uri: at("README.md") }) };
  }

  test("a resource is denied where its tool call is", async () => {
    const { read, asked } = await connectRuled("deny");
    await expect(read()).rejects.toMatchObject({ code: -32603, data: { code: "PERMISSION_DENIED" } });
    expect(asked).toEqual([]);
  });

  test("a resource asks where its tool call does", async () => {
    const { read, asked } = await connectRuled("prompt");
    expect(textOf((await read()).contents)).toBe("# Demo\n");
    expect(asked).toHaveLength(1);
    expect(asked[0]).toContain("fs.read");
  });
});

test.each(["legacy", "auto"] as const)("fs.rm without confirm asks the person, once (%s)", async (mode) => {
  const { registry, dispatch } = octant;
  const service = { registry, dispatch, name: "octant", version: "1", log: () => {} };
  const options = { versionNegotiation: { mode }, capabilities: { elicitation: { form: {} } } };
  const { client, close } = await connectInProcess(service, options);
  onTestFinished(close);
  const asked: string[] = [];
  client.setRequestHandler("elicitation/create", async ({ params }) => {
    asked.push(params.message);
    return { action: "accept", content: { confirm: true } };
  });
  const name = `gone-${mode}.txt`;
  writeFileSync(join(root, name), "x");
  const removed = await client.callTool({ name: "fs", arguments: { action: "rm", uri: name } });
  expect(removed.structuredContent).toMatchObject({ ok: true, data: { removed: 1 } });
  expect(existsSync(join(root, name))).toBe(false);
  expect(asked).toEqual([expect.stringContaining(`Remove ${name}?`)]);
});
