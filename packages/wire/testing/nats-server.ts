import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
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
  const args = ["-a", "127.0.0.1", "-p", "-1", "-js", "-sd", folder];
  const child = spawn("nats-server", args, { stdio: ["ignore", "ignore", "pipe"] });
  const exit = once(child, "exit");
  let address = "";
  for await (const line of createInterface({ input: child.stderr })) {
    address ||= /client connections on (\S+)/.exec(line)?.[1] ?? "";
    if (line.includes("Server is ready")) break;
  }
  child.stderr.resume();
  return {
    url: `nats://${address}`,
    async stop() {
      child.kill("SIGTERM");
      await exit;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
