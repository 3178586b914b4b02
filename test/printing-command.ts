import { once } from "node:events";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { onTestFinished } from "vitest";
import type { FixtureProject } from "./fixture-project.ts";
import { startOctant } from "./octant-process.ts";
import { LAUNCHER } from "./published-command.ts";

type Project = Pick<FixtureProject, "root" | "env">;

/** Starts a command that prints one line of JSON about itself, and ends it with the test. */
export async function startPrinting(project: Project, ...args: string[]) {
  const started = await startShared(project, ...args);
  onTestFinished(started.stop);
  return started;
}

/** The same for several tests, which have to stop it. */
export async function startShared({ root, env }: Project, ...args: string[]) {
  const child = startOctant([...args, "--json"], { cwd: root, env });
  const exit = once(child, "exit");
  const stderr = text(child.stderr);
  const stop = async () => {
    child.kill("SIGTERM");
    await exit;
  };
  const [line] = await Promise.race([
    once(createInterface({ input: child.stdout }), "line"),
    exit.then(async () => Promise.reject(new Error(await stderr))),
  ]);
  return { printed: JSON.parse(line) as Record<string, unknown>, stop };
}

/** A client's end of a command that it starts itself. */
export const stdioOf = ({ root, env }: Project, ...args: string[]) =>
  new StdioClientTransport({
    command: process.execPath,
    args: [LAUNCHER, ...args],
    cwd: root,
    // Every variable has a value.
    env: env as Record<string, string>,
  });
