import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { LAUNCHER } from "../../test/published-command.ts";

const MARKED_FILES = 100;

/** Octant in its own process and project. */
export interface ServerProcess extends AsyncDisposable {
  readonly child: ChildProcessWithoutNullStreams;
  /** The resident memory of the process. */
  residentBytes(): number;
  /** The stderr output. */
  errors(): string;
}

/** Over HTTP, WebSocket and SSE. */
export interface EdgesServer extends ServerProcess {
  readonly url: string;
  readonly token: string;
  readonly port: number;
}

/** A file whose text names it: `marked/7.txt` is "file 7". */
export const markedFile = (n: number) => ({
  uri: `marked/${n % MARKED_FILES}.txt`,
  text: `file ${n % MARKED_FILES}\n`,
});

export async function startEdgesServer(): Promise<EdgesServer> {
  const started = startServer("--http", "--json", "--sse");
  const { child, errors } = started;
  const [line] = await Promise.race([
    once(createInterface({ input: child.stdout }), "line"),
    once(child, "exit").then(() => Promise.reject(new Error(`the server did not start: ${errors()}`))),
  ]);
  const { url, token } = JSON.parse(line);
  return { ...started, url, token, port: Number(new URL(url).port) };
}

/** `octant serve` with these flags, on its own project. */
export function startServer(...flags: readonly string[]): ServerProcess {
  const base = realpathSync(mkdtempSync(join(tmpdir(), "octant-edges-")));
  const root = join(base, "project");
  mkdirSync(join(root, "marked"), { recursive: true });
  for (let n = 0; n < MARKED_FILES; n++) writeFileSync(join(root, markedFile(n).uri), markedFile(n).text);
  const child = spawn(process.execPath, [LAUNCHER, "serve", ...flags, "--root", root], {
    env: { PATH: process.env["PATH"] ?? "", HOME: base },
  });
  let errors = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    errors = (errors + text).slice(-MAX_ERRORS);
  });
  return {
    child,
    residentBytes() {
      const [, kibibytes] =
        /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${child.pid}/status`, "utf8")) ?? [];
      return Number(kibibytes) * 1024;
    },
    errors: () => errors,
    async [Symbol.asyncDispose]() {
      if (child.exitCode === null && child.signalCode === null) {
        child.kill("SIGKILL");
        await once(child, "exit");
      }
      rmSync(base, { recursive: true, force: true });
    },
  };
}

const MAX_ERRORS = 10_000;
