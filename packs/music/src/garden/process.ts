import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { closeSync, openSync, readFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { type BinaryPart, type Context, type Progress, ToolError } from "@octant/core";
import type { WireClient } from "@octant/wire";
import { sharedImports } from "../shared-imports.ts";

const ENTRY = fileURLToPath(new URL(`./garden-entry${extname(import.meta.url)}`, import.meta.url));

const MAX_LOG_CHARS = 2_000;
/** The path of a socket has at most about 100 bytes. */
const MAX_SOCKET_PATH_BYTES = 90;

/** In a folder that only its owner can enter; the server makes it so. */
function toSocketPath(folder: string): string {
  const path = join(folder, "run", "s");
  if (Buffer.byteLength(path) <= MAX_SOCKET_PATH_BYTES) return path;
  const short = createHash("sha256").update(folder).digest("hex").slice(0, 16);
  return join(tmpdir(), `octant-garden-${short}`, "s");
}

interface More {
  readonly upload?: BinaryPart;
  readonly onProgress?: (update: Progress) => void;
}

export type GardenProcess = ReturnType<typeof createGardenProcess>;

/** The garden of a folder: started when it is first needed, shared with other servers, and started anew after its death. */
export function createGardenProcess(folder: string) {
  const path = toSocketPath(folder);
  const address = `ipc://${path}`;
  let client: WireClient | undefined;
  let opening: Promise<WireClient> | undefined;

  /** Calls that come together share one start. */
  function open(): Promise<WireClient> {
    opening ??= reopen().finally(() => {
      opening = undefined;
    });
    return opening;
  }

  async function reopen(): Promise<WireClient> {
    if (!(await isListening(path))) {
      leave();
      await start(folder, address, leave);
    }
    const { createZmqClient } = await import("@octant/wire");
    client ??= createZmqClient({ address, attempts: 2 });
    return client;
  }

  /** Calls that still wait fail at once; the next one starts the garden anew. */
  function leave(): void {
    client?.close();
    client = undefined;
  }

  async function call(action: string, input: object, { signal }: Pick<Context, "signal">, more: More = {}) {
    const { dispatch } = await open();
    const { envelope } = await dispatch({ tool: "garden", action, input }, { signal, ...more });
    if (envelope.ok) return envelope.data;
    const { code, message, details } = envelope.error;
    if (code === "UPSTREAM_ERROR")
      throw new ToolError("INTERRUPTED", "the garden stopped before it answered; its regions are safe", {});
    throw new ToolError(code, message, details);
  }

  return {
    folder,
    address,
    call,
    async close(): Promise<void> {
      if (client && (await isListening(path)))
        await call("rest", {}, { signal: new AbortController().signal }).catch(() => {});
      leave();
    },
  };
}

/** Detached: music continues when the command that started it has ended. */
async function start(folder: string, address: string, onExit: () => void): Promise<void> {
  const conditions = process.execArgv.filter((arg) => arg.startsWith("--conditions="));
  const args = [
    ...conditions,
    "--disable-warning=ExperimentalWarning",
    ENTRY,
    folder,
    address,
    JSON.stringify(sharedImports()),
  ];
  const logPath = join(folder, "garden.log");
  const log = openSync(logPath, "w", 0o600);
  try {
    const child = spawn(process.execPath, args, { detached: true, stdio: ["ignore", "pipe", log] });
    const ready = Promise.withResolvers<void>();
    child.once("error", ready.reject);
    // With status 0 another process listens already.
    child.once("exit", (code) => (code === 0 ? ready.resolve() : ready.reject(new Error(`status ${code}`))));
    child.stdout?.once("data", ready.resolve);
    await ready.promise.finally(() => child.stdout?.destroy());
    if (child.exitCode === null) child.once("exit", onExit);
    child.unref();
  } catch (cause) {
    const message = `the garden did not start: ${readFileSync(logPath, "utf8").slice(0, MAX_LOG_CHARS)}`;
    throw new ToolError("EXEC_FAILED", message, { program: "garden" }, { cause });
  } finally {
    closeSync(log);
  }
}

/** A socket file stays behind when its process is killed. */
const isListening = (path: string): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(path);
    const tell = (found: boolean) => {
      socket.destroy();
      resolve(found);
    };
    socket.once("connect", () => tell(true)).once("error", () => tell(false));
  });
