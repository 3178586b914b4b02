import { once } from "node:events";
import { mkdirSync, realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Readable, Writable } from "node:stream";
import { ToolError } from "@octant/core";
import type { ConnectOverCDPTransport } from "playwright-core";
import { endFamily } from "../processes/process-tree.ts";
import { SERVER_MARK } from "../processes/protocol.ts";
import { startLaunched } from "../programs/start-program.ts";
import { APART_PROXY } from "../sandbox/create-sandbox.ts";
import type { Launch, Sandbox } from "../sandbox/sandbox.ts";
import { toBrowserArguments } from "./browser-arguments.ts";

/** A browser that we started. It does not outlive us. */
export interface BrowserProcess {
  readonly transport: ConnectOverCDPTransport;
  readonly pid: number;
  /** It runs in a sandbox that hides the machine's files and network. */
  readonly isApart: boolean;
  /** Ends it and all its children. */
  end(): Promise<void>;
}

export interface BrowserStart {
  readonly program: string;
  /** It cannot run in the sandbox. */
  readonly needsHost: boolean;
  readonly headless: boolean;
  readonly sandbox: Pick<Sandbox, "wrapApart">;
  /** Shared with it, under the same path; private to this browser. */
  readonly folder: string;
  /** Opens the proxy that it must use. */
  openProxy(listen: "socket" | "port"): Promise<string>;
  readonly env: Readonly<Record<string, string>>;
  /** Identifies us in its environment, so that it is found after a crash. */
  readonly mark: string;
}

const DESCRIPTORS = 2;
const MAX_STDERR_CHARS = 2_000;

/** EXEC_FAILED with its error output when it does not start. */
export async function startBrowserProcess(start: BrowserStart): Promise<BrowserProcess> {
  const { launched, isApart } = await launch(start);
  const [program, ...args] = launched.argv;
  const child = startLaunched(program, args, {
    cwd: launched.folder,
    env: launched.env,
    // Its own process group: a signal reaches all its children.
    detached: true,
    stdio: ["ignore", "ignore", "pipe", "pipe", "pipe"],
  });
  let stderr = "";
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    stderr = (stderr + text).slice(-MAX_STDERR_CHARS);
  });
  const exited = new Promise<void>((resolve) => {
    child.once("exit", () => resolve());
    child.once("error", () => resolve());
  });
  if (child.pid === undefined) throw failed(start.program, String((await once(child, "error"))[0]));
  const { pid } = child;
  // Requested as pipes above.
  const [, , , input, output] = child.stdio as unknown as [null, null, Readable, Writable, Readable];
  const transport = createPipeTransport(input, output);
  const end = () => endFamily(pid, start.mark, exited)();
  const isUp = await Promise.race([transport.answered, exited.then(() => false)]);
  if (isUp) return { transport, pid, isApart, end };
  await end();
  throw failed(start.program, stderr);
}

/** Uses our sandbox where one is available; otherwise the browser's own. */
async function launch(start: BrowserStart): Promise<{ launched: Launch; isApart: boolean }> {
  const { program, needsHost, headless, sandbox, folder } = start;
  if (headless && !needsHost) {
    const proxySocket = await start.openProxy("socket");
    const flags = toBrowserArguments({
      headless,
      proxy: APART_PROXY,
      profile: "/tmp/profile",
      // It is inside our sandbox, which prevents nested ones.
      ownSandbox: false,
    });
    const launched = await sandbox.wrapApart({
      argv: [program, ...flags],
      env: { ...start.env, HOME: "/tmp", TMPDIR: "/tmp", [SERVER_MARK]: start.mark },
      reads: [dirname(realpathSync(program))],
      writes: [folder],
      proxySocket,
      descriptors: DESCRIPTORS,
    });
    if (launched) return { launched, isApart: true };
  }
  const proxy = await start.openProxy("port");
  const profile = join(folder, "profile");
  mkdirSync(profile, { mode: 0o700 });
  // It has none as root.
  const ownSandbox = process.getuid?.() !== 0;
  const flags = toBrowserArguments({ headless, proxy, profile, ownSandbox });
  // Chromium leaves files in the temp folder; these are removed with ours.
  const env = { ...start.env, HOME: profile, TMPDIR: folder, [SERVER_MARK]: start.mark };
  return {
    launched: { argv: [program, ...flags], env, folder, launcher: false },
    isApart: false,
  };
}

interface PipeTransport extends ConnectOverCDPTransport {
  /** Resolves with true when the browser has sent its first answer. */
  readonly answered: Promise<boolean>;
}

/** The protocol's messages, each terminated by a zero byte. */
function createPipeTransport(input: Writable, output: Readable): PipeTransport {
  const answered = Promise.withResolvers<boolean>();
  let pending: Buffer[] = [];
  const transport: PipeTransport = {
    answered: answered.promise,
    send: (message) => void input.write(`${JSON.stringify(message)}\0`),
    close: () => {
      input.destroy();
      output.destroy();
    },
  };
  const receive = (message: { id?: number }) => {
    if (message.id === FIRST_ID) answered.resolve(true);
    else transport.onmessage?.(message);
  };
  output.on("data", (chunk: Buffer) => {
    let start = 0;
    for (let end = chunk.indexOf(0); end >= 0; end = chunk.indexOf(0, start)) {
      const bytes = Buffer.concat([...pending, chunk.subarray(start, end)]);
      pending = [];
      start = end + 1;
      // One task per message: Playwright expects the effects of a message to complete before the next.
      setImmediate(() => receive(JSON.parse(bytes.toString())));
    }
    if (start < chunk.length) pending.push(chunk.subarray(start));
  });
  for (const stream of [input, output]) stream.on("error", () => {});
  output.on("close", () => {
    answered.resolve(false);
    transport.onclose?.();
  });
  transport.send({ id: FIRST_ID, method: "Browser.getVersion" });
  return transport;
}

/** Playwright counts from 1. */
const FIRST_ID = 0;

const failed = (program: string, stderr: string) => {
  const [reason = ""] = stderr
    .split("\n")
    .filter((line) => !/dbus|^$/.test(line))
    .slice(-1);
  return new ToolError("EXEC_FAILED", `the browser did not start: ${reason || "it exited immediately"}`, {
    program,
  });
};
