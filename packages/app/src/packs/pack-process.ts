import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  type Caller,
  type Dispatch,
  type PackContext,
  type Registry,
  type Tool,
  ToolError,
} from "@octant/core";
import { type Denied, type Sandbox, startServer, type Workspace } from "@octant/host";
import type { EffectiveSettings } from "@octant/runtime";
import {
  createZmqClient,
  serveZmq,
  type ToolDeclaration,
  toForeignTool,
  type WireClient,
} from "@octant/wire";
import { callPack } from "./call-pack.ts";
import type { LoadedPack } from "./load-pack.ts";
import { CREDENTIALS, serveCredentials } from "./pack-credentials.ts";
import { wrapPack } from "./pack-sandbox.ts";
import type { FoundPack } from "./read-pack.ts";

export interface PackProcessOptions {
  readonly pack: FoundPack;
  readonly settings: Readonly<Record<string, unknown>> | undefined;
  /** The pack's own data. */
  readonly data: string;
  readonly workspace: Pick<Workspace, "sandbox" | "confinement" | "state" | "denials">;
  readonly effective: Pick<EffectiveSettings, "sandbox" | "net">;
  /** The tools in `uses`, and a dispatcher that knows no others. */
  readonly uses: { readonly registry: Registry; readonly dispatch: Dispatch };
  /** The sign-ins that it has declared. */
  readonly credentials: PackContext["credentials"];
  /** Files that none of its calls may reach. The process runs many calls, so it must not see these files at all. */
  denied(): Denied | undefined;
  /** Throws when the pack must not be started (again), as when its files have changed. */
  check(): void;
  log(line: string): void;
  /** How often the process is asked whether it still answers. */
  readonly heartbeatMs?: number;
}

const HEARTBEAT_MS = 5_000;
/** Together with HEARTBEAT_MS a minute: long work that blocks the process is not a hang yet. */
const ATTEMPTS = 4;
const MAX_MESSAGES_PER_SECOND = 20_000;
const MAX_OUTPUT_BYTES = 64 * 1024 * 1024;
const START_MS = 30_000;
/** Lines about refused hosts in the log of one process. */
const MAX_REFUSALS = 20;
const FIRST_DELAY_MS = 1_000;
const MAX_DELAY_MS = 60_000;

interface Running {
  readonly client: WireClient;
  readonly declarations: readonly ToolDeclaration[];
  /** Why it no longer answers; its processes and sockets may not be gone yet. */
  readonly over: Promise<string>;
  /** The end of its log, for the person. */
  logTail(): string;
  end(reason: string): Promise<void>;
}

/** The tools of a pack in its own process. One that crashes, hangs or floods fails its calls, and is started again. */
export async function openPackProcess(options: PackProcessOptions): Promise<LoadedPack> {
  const { pack, log } = options;
  /** The callers whose calls the pack is running; it may call other tools for them alone. */
  const callers = new Map<string, { readonly caller: Caller; calls: number }>();
  let running: Promise<Running> | undefined;
  let [failures, notBefore] = [0, 0];
  let isClosed = false;
  const failed = (reason: string): ToolError =>
    new ToolError("UPSTREAM_ERROR", `pack '${pack.pack}' ${reason}`, {});
  const start = async (): Promise<Running> => {
    const startedAt = performance.now();
    const started = await startPack(options, callers);
    void started.over.then((reason) => {
      running = undefined;
      if (isClosed) return;
      failures = performance.now() - startedAt > MAX_DELAY_MS ? 1 : failures + 1;
      // The first restart is immediate.
      const delay = failures === 1 ? 0 : Math.min(MAX_DELAY_MS, FIRST_DELAY_MS * 2 ** (failures - 2));
      notBefore = performance.now() + delay;
      log(
        `pack '${pack.pack}' ${reason}; it is started again with its next call${tailOf(started.logTail())}`,
      );
    });
    return started;
  };
  const use = async (): Promise<Running> => {
    if (isClosed) throw failed("is closed");
    const wait = Math.ceil(notBefore - performance.now());
    if (!running && wait > 0)
      throw failed(`has failed ${failures} times; it may be called again in ${wait} ms`);
    running ??= start().catch((cause) => {
      running = undefined;
      failures += 1;
      notBefore = performance.now() + FIRST_DELAY_MS;
      throw cause;
    });
    return running;
  };
  const { declarations } = await use();
  const onBug = (tail: string) => log(`pack '${pack.pack}': ${tail.trim()}`);
  const call = callPack({ use, failed, callers, onBug });
  const tools: Tool[] = declarations.map((one) => ({
    ...toForeignTool(one, (action) => call(one.name, action)),
    backends: () => call.backends(one.name),
  }));
  return {
    tools,
    async close() {
      isClosed = true;
      await (await running?.catch(() => undefined))?.end("was closed");
    },
  };
}

async function startPack(
  options: PackProcessOptions,
  callers: ReadonlyMap<string, { readonly caller: Caller }>,
): Promise<Running> {
  const { pack, workspace, effective, data, settings, log } = options;
  options.check();
  await using opened = new AsyncDisposableStack();
  const sockets = mkdtempSync(join(tmpdir(), "octant-pack-"));
  chmodSync(sockets, 0o700);
  opened.defer(() => rmSync(sockets, { recursive: true, force: true }));
  const address = `ipc://${sockets}/pack`;
  const needsHost = pack.uses.length + pack.rights.credentials.length > 0;
  const host = needsHost ? `ipc://${sockets}/host` : undefined;
  if (host !== undefined) opened.defer(await serveUsed(options, host, callers));
  const { roots } = workspace.confinement;
  const isHidden = pack.rights.files === "none";
  const denies = (authority: string) => options.denied()?.host(authority);
  const refusals = new Set<string>();
  const onRefused = (message: string) => {
    if (refusals.has(message) || refusals.size === MAX_REFUSALS) return;
    refusals.add(message);
    log(`pack '${pack.pack}' was refused a connection: ${message}`);
  };
  const place = { ...pack, settings, denies, onRefused, writes: [data, sockets] };
  const wrap: Sandbox["wrap"] = async ({ env }) => {
    const { launched, close } = await workspace.denials.during(options.denied(), () =>
      wrapPack(workspace, effective, { ...place, env }),
    );
    opened.defer(close);
    return launched;
  };
  const child = await startServer({
    argv: [process.execPath],
    root: roots[0] ?? "/",
    env: {},
    sandbox: { wrap },
    state: workspace.state,
  });
  const over = Promise.withResolvers<string>();
  opened.defer(async () => child.ending()());
  void child.exited.then((how) => over.resolve(`ended: ${how}`));
  let isUp = false;
  let bytes = 0;
  child.output.on("data", (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > MAX_OUTPUT_BYTES) over.resolve(`wrote more than ${MAX_OUTPUT_BYTES} bytes to its output`);
  });
  child.input.write(
    `${JSON.stringify({ folder: pack.folder, address, data, host, settings, roots: isHidden ? [] : roots })}\n`,
  );
  const client = createZmqClient({
    address,
    heartbeatMs: options.heartbeatMs ?? HEARTBEAT_MS,
    attempts: ATTEMPTS,
    maxMessagesPerSecond: MAX_MESSAGES_PER_SECOND,
    onGone: (reason) => isUp && over.resolve(`was stopped: ${reason.replace(/; is octant serve.*/, "")}`),
  });
  opened.defer(() => client.close());
  const ready = await Promise.race([
    untilReady(client, () => opened.disposed),
    over.promise.then((reason) => {
      const message = `pack '${pack.pack}' ${reason}${tailOf(child.stderrTail())}`;
      throw new ToolError("EXEC_FAILED", message, { program: pack.entry });
    }),
    timeoutAfter(START_MS, pack.pack),
  ]);
  isUp = true;
  const resources = opened.move();
  const ended = over.promise.then(async (reason) => {
    await resources.disposeAsync().catch((cause) => log(`pack '${pack.pack}': ${cause}`));
    return reason;
  });
  return {
    client,
    declarations: ready.declarations ?? [],
    over: over.promise,
    logTail: child.stderrTail,
    async end(reason) {
      over.resolve(reason);
      await ended;
    },
  };
}

/** Its socket is not there yet. */
async function untilReady(client: WireClient, isOver: () => boolean): ReturnType<WireClient["ready"]> {
  for (;;) {
    const ready = await client.ready({ declarations: true }).catch((cause) => {
      if (isOver() || !(cause instanceof ToolError) || cause.code !== "UPSTREAM_ERROR") throw cause;
    });
    if (ready) return ready;
  }
}

const tailOf = (stderr: string): string => (stderr.trim() === "" ? "" : `: ${stderr.trim()}`);

/** Never resolves. */
const timeoutAfter = (ms: number, pack: string): Promise<never> =>
  new Promise((_, fail) => {
    const error = new ToolError("TIMEOUT", `pack '${pack}' did not start within ${ms} ms`, { after_ms: ms });
    setTimeout(() => fail(error), ms).unref();
  });

/** Lets the pack call the tools that it uses, for the callers of its running calls, and get its sign-ins. */
async function serveUsed(
  { pack, uses, credentials, log }: PackProcessOptions,
  address: string,
  callers: ReadonlyMap<string, { readonly caller: Caller }>,
): Promise<() => Promise<void>> {
  const nobody: Caller = { id: `pack-${pack.pack}`, access: "read" };
  const secrets = serveCredentials(credentials, log);
  const dispatch: Dispatch = (call, options) =>
    call.tool === CREDENTIALS
      ? secrets(call, options)
      : uses.dispatch(call, { ...options, caller: callers.get(options.caller.id)?.caller ?? nobody });
  const about = { name: "octant", version: pack.version, caller: { id: "pack", access: "admin" } as const };
  const server = await serveZmq({ ...about, registry: uses.registry, dispatch, address, log });
  return () => server.close();
}
