import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

export interface NatsServer {
  readonly url: string;
  /** Ends it with its streams. */
  stop(): Promise<void>;
  /** As kill -9; its streams stay on the disk. */
  kill(): Promise<void>;
  /** On the same port, with the same streams. */
  restart(): Promise<void>;
}

/** Credentials that every test may know. */
const PASSWORD = "octant:octant";

export interface NatsServerOptions {
  /** The lines of a configuration file; by default one user with a password. */
  readonly config?: string;
  readonly port?: number;
  /** Loopback by default. */
  readonly host?: string;
}

/** A real nats-server with JetStream, on a free port. */
export async function startNatsServer({
  config,
  port = -1,
  host = "127.0.0.1",
}: NatsServerOptions = {}): Promise<NatsServer> {
  const folder = mkdtempSync(join(tmpdir(), "octant-nats-"));
  const [user, password] = PASSWORD.split(":");
  const file = join(folder, "nats.conf");
  writeFileSync(file, config ?? `authorization { user: ${user}, password: ${password} }\n`);
  const start = async (on: number) => {
    const args = ["-c", file, "-a", host, "-p", String(on), "-js", "-sd", folder];
    const child = spawn("nats-server", args, { stdio: ["ignore", "ignore", "pipe"] });
    const exit = once(child, "exit");
    let address = "";
    for await (const line of createInterface({ input: child.stderr })) {
      address ||= /client connections on (\S+)/.exec(line)?.[1] ?? "";
      if (line.includes("Server is ready")) break;
    }
    child.stderr.resume();
    return { child, exit, address };
  };
  let running = await start(port);
  const { address } = running;
  const end = async (signal: NodeJS.Signals) => {
    running.child.kill(signal);
    await running.exit;
  };
  return {
    url: config === undefined ? `nats://${PASSWORD}@${address}` : `nats://${address}`,
    async stop() {
      await end("SIGTERM");
      rmSync(folder, { recursive: true, force: true });
    },
    kill: () => end("SIGKILL"),
    async restart() {
      running = await start(Number(address.slice(address.lastIndexOf(":") + 1)));
    },
  };
}
