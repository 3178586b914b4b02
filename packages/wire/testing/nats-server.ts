import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

export interface NatsServer {
  readonly url: string;
  stop(): Promise<void>;
}

/** Credentials that every test may know. */
const PASSWORD = "octant:octant";

export interface NatsServerOptions {
  /** The lines of a configuration file; by default one user with a password. */
  readonly config?: string;
  readonly port?: number;
}

/** A real nats-server with JetStream, on a free loopback port. */
export async function startNatsServer({ config, port = -1 }: NatsServerOptions = {}): Promise<NatsServer> {
  const folder = mkdtempSync(join(tmpdir(), "octant-nats-"));
  const [user, password] = PASSWORD.split(":");
  const file = join(folder, "nats.conf");
  writeFileSync(file, config ?? `authorization { user: ${user}, password: ${password} }\n`);
  const args = ["-c", file, "-a", "127.0.0.1", "-p", String(port), "-js", "-sd", folder];
  const child = spawn("nats-server", args, { stdio: ["ignore", "ignore", "pipe"] });
  const exit = once(child, "exit");
  let address = "";
  for await (const line of createInterface({ input: child.stderr })) {
    address ||= /client connections on (\S+)/.exec(line)?.[1] ?? "";
    if (line.includes("Server is ready")) break;
  }
  child.stderr.resume();
  return {
    url: config === undefined ? `nats://${PASSWORD}@${address}` : `nats://${address}`,
    async stop() {
      child.kill("SIGTERM");
      await exit;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
