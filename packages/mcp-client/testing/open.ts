import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import type { ProgramDefinition, ServerDefinition } from "../src/connection.ts";
import type { ToolConsent } from "../src/server.ts";
import { createMcpServers, type McpServersOptions } from "../src/servers.ts";
import type { StartedProgram } from "../src/stdio-transport.ts";

const HOSTILE = join(import.meta.dirname, "hostile-server.mjs");
export const node = (...args: string[]): ServerDefinition => ({ command: process.execPath, args, env: {} });
export const hostile = (...args: string[]) => node(HOSTILE, ...args);

/** Like the host, but without its sandbox. */
async function start(_server: string, { command, args = [] }: ProgramDefinition): Promise<StartedProgram> {
  const child = spawn(command, [...args], { stdio: "pipe" });
  let stderrTail = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    stderrTail += text;
  });
  child.stdin.on("error", () => {});
  const exited = once(child, "exit").then(([code]) => `exit code ${code}`);
  return {
    input: child.stdin,
    output: child.stdout,
    exited,
    stderrTail: () => stderrTail,
    async end() {
      child.kill("SIGKILL");
      await exited;
    },
  };
}

export function createConsent(): ToolConsent {
  const seen = new Map<string, string>();
  return {
    known: (server, tool) => seen.get(`${server} ${tool}`),
    async remember(server, tools) {
      for (const { tool, hash } of tools) seen.set(`${server} ${tool}`, hash);
    },
  };
}

export function open(servers: Record<string, ServerDefinition>, more: Partial<McpServersOptions> = {}) {
  const lines: string[] = [];
  const made = createMcpServers({
    servers,
    start,
    version: "1.0.0",
    roots: ["file:///project"],
    consent: createConsent(),
    log: (line) => lines.push(line),
    ...more,
  });
  onTestFinished(() => made.close());
  const call = (name: string, input = {}, signal = new AbortController().signal) =>
    made.call(name, input, { signal });
  const names = () => made.tools().map(({ name }) => name);
  const stateOf = (server: string) => made.status().find((one) => one.server === server);
  return { ...made, call, names, stateOf, lines };
}

export const textOf = ({ content }: { content: readonly object[] }) => Object(content[0]).text as string;
