import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createScriptedProvider, type Script, type ScriptedRequest } from "@octant/scripted-provider";
import { providerEnvironment } from "../eval/agent-environment.ts";
import { layOutInstall } from "./install.ts";

/** The installed command in its own project, with a scripted model. */
export interface AgentBench extends AsyncDisposable {
  readonly folder: string;
  readonly project: string;
  /** Runs `octant run` to its end; resolves with the milliseconds from its start to the first request. */
  run(args: readonly string[], onRequest?: (request: ScriptedRequest, pid: number) => void): Promise<number>;
}

export async function createAgentBench(script: Script, onAnswered = () => {}): Promise<AgentBench> {
  const folder = mkdtempSync(join(tmpdir(), "octant-bench-agent-"));
  let listen: (request: ScriptedRequest) => void = () => {};
  const provider = await createScriptedProvider(script, {
    forgets: true,
    onRequest: (request) => listen(request),
    onAnswered,
  });
  const launcher = layOutInstall(join(folder, "install"));
  const project = join(folder, "project");
  mkdirSync(project);
  const env = {
    ...process.env,
    ...providerEnvironment(provider),
    HOME: folder,
    XDG_STATE_HOME: join(folder, "state"),
    XDG_CACHE_HOME: join(folder, "cache"),
  };
  return {
    folder,
    project,
    async run(args, onRequest) {
      const begin = performance.now();
      let first: number | undefined;
      const child = spawn(process.execPath, [launcher, "run", ...args, "--provider", "anthropic"], {
        cwd: project,
        env,
        stdio: ["ignore", "ignore", "ignore"],
      });
      listen = (request) => {
        first ??= performance.now() - begin;
        onRequest?.(request, child.pid ?? 0);
      };
      const [code] = await new Promise<[number | null]>((resolve) =>
        child.once("exit", (ended) => resolve([ended])),
      );
      if (code !== 0 || first === undefined) throw new Error(`octant run ended with ${code}`);
      return first;
    },
    async [Symbol.asyncDispose]() {
      await provider[Symbol.asyncDispose]();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

const KB_PER_MB = 1024;

/** Resident memory of a process in megabytes, on Linux. */
export function residentMb(pid: number): number {
  const [, kilobytes = "NaN"] = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
  return Number(kilobytes) / KB_PER_MB;
}

/**
 * Reads another part of a file in each turn: the same call again and again would be stopped. It counts by itself, since
 * a compacted conversation shows fewer answers than were given, and it sums up when a compaction asks for that.
 */
export function readingScript(calls: number): Script {
  let made = 0;
  return ({ user }) => {
    if (/^Stop here and write a summary/.test(user)) return { parts: [{ text: "It read a file." }] };
    if (made >= calls) return { parts: [{ text: "Done." }] };
    made += 1;
    return { parts: [{ call: "fs", input: { action: "read", uri: "a.txt", lines: `1-${made}` } }] };
  };
}

/** The file that `readingScript` reads. */
export const writeReadFile = (project: string): void =>
  writeFileSync(join(project, "a.txt"), "a line of text\n".repeat(20));
