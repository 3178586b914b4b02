import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

export interface NatsServer {
  readonly url: string;
  stop(): Promise<void>;
}

/** A real nats-server with JetStream, on a free loopback port. */
export async function startNatsServer(): Promise<NatsServer> {
  const folder = mkdtempSync(join(tmpdir(), "octant-nats-"));
  const args = ["-a", "127.0.0.1", "-p", "-1", "-js", "-sd", folder, "--ports_file_dir", folder];
  const child = spawn("nats-server", args, { stdio: ["ignore", "ignore", "pipe"] });
  const exit = once(child, "exit");
  for await (const line of createInterface({ input: child.stderr }))
    if (line.includes("Server is ready")) break;
  child.stderr.resume();
  const ports = JSON.parse(readFileSync(join(folder, `nats-server_${child.pid}.ports`), "utf8"));
  return {
    url: ports.nats[0],
    async stop() {
      child.kill("SIGTERM");
      await exit;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
