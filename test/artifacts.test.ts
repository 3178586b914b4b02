import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { afterAll, beforeAll, expect, test } from "vitest";
import { packBundle } from "../scripts/package/bundle.ts";
import { loadManifest } from "../scripts/package/packages.ts";
import { registryName, toServerJson } from "../scripts/package/server-json.ts";
import { LAUNCHER } from "./published-command.ts";
import { readZip } from "./read-zip.ts";

const MODULES = join(import.meta.dirname, "../node_modules");
const PLATFORM = { os: process.platform, arch: process.arch };

/** The published package of the command. */
const COMMAND = join(dirname(LAUNCHER), "..");

let base: string;
let project: string;
beforeAll(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "octant-artifacts-")));
  project = join(base, "project");
  mkdirSync(project);
  mkdirSync(join(base, "home"));
  writeFileSync(join(project, "a.txt"), "first\nsecond\n");
  execFileSync("git", ["init", "-q"], { cwd: project });
});
afterAll(() => rmSync(base, { recursive: true, force: true }));

const env = () => ({ HOME: join(base, "home"), PATH: process.env["PATH"] ?? "" });

/** Starts a server as a client does and uses the tools that need our own files. */
async function useServer(command: string, args: readonly string[]): Promise<void> {
  const client = new Client({ name: "test", version: "1" });
  await client.connect(new StdioClientTransport({ command, args: [...args], cwd: project, env: env() }));
  const ask = async (name: string, input: object) => {
    const { content, structuredContent, isError } = await client.callTool({ name, arguments: { ...input } });
    const [block] = content;
    return { text: block?.type === "text" ? block.text : "", structuredContent, isError };
  };
  try {
    const run = await ask("proc", { action: "exec", command: "cat a.txt" });
    expect(run).toMatchObject({ isError: false, text: expect.stringContaining("first\nsecond") });
    // These servers are for models.
    expect(run.structuredContent).toBeUndefined();
    expect((await ask("vcs", { action: "status" })).text).toContain("a.txt");
    expect((await ask("code", { action: "outline", uri: "a.txt" })).text).not.toContain("INTERNAL");
    expect((await ask("fs", { action: "search_text", pattern: "second" })).text).toContain("a.txt:2: second");
  } finally {
    await client.close();
  }
}

const doctor = (launcher: string): string =>
  execFileSync(process.execPath, [launcher, "doctor"], { cwd: project, env: env(), encoding: "utf8" });

test("an unpacked bundle, outside node_modules, runs commands and git, and its doctor is content", async () => {
  const folder = join(base, "unpacked");
  for (const [name, { content, mode }] of readZip(packBundle(COMMAND, MODULES, PLATFORM))) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), content, { mode: mode & 0o777 });
  }
  const { server } = JSON.parse(execFileSync("cat", [join(folder, "manifest.json")], { encoding: "utf8" }));
  const fill = (text: string) =>
    text.replace(`$\{__dirname}`, folder).replace(`$\{user_config.root}`, project);
  expect(server.mcp_config.command).toBe("node");
  await useServer(process.execPath, server.mcp_config.args.map(fill));
  expect(doctor(join(folder, server.entry_point))).not.toContain("does not exist");
});

test("the packed command, installed alone, is what server.json starts", async () => {
  const { name, version } = loadManifest(COMMAND);
  const packed = execFileSync("npm", ["pack", "--offline", "--silent", "--pack-destination", base, COMMAND], {
    cwd: base,
    encoding: "utf8",
  }).trim();
  const folder = join(base, "install/node_modules", name);
  mkdirSync(folder, { recursive: true });
  execFileSync("tar", ["-xzf", join(base, packed), "--strip-components", "1", "-C", folder]);
  for (const dependency of Object.keys(loadManifest(folder).dependencies ?? {})) {
    if (dependency.startsWith("@octant/")) continue;
    mkdirSync(dirname(join(base, "install/node_modules", dependency)), { recursive: true });
    symlinkSync(join(MODULES, dependency), join(base, "install/node_modules", dependency));
  }
  const { packages } = toServerJson(registryName("someone"), { name, version });
  const args = packages[0]?.packageArguments.flatMap((one) => [
    ...("name" in one && one.name !== undefined ? [one.name] : []),
    "value" in one && one.value !== undefined ? one.value : project,
  ]);
  expect(args).toEqual(["serve", "--answers", "text", "--root", project]);
  const launcher = join(folder, "bin/octant.js");
  await useServer(process.execPath, [launcher, ...(args ?? [])]);
  expect(doctor(launcher)).not.toContain("does not exist");
});
