import type { Writable } from "node:stream";
import { setTimeout as delay } from "node:timers/promises";
import { createTopic } from "@octant/core";
import type { CancellationToken, MessageWriter } from "vscode-jsonrpc/node";
import { type Path, pathToUri } from "../path.ts";
import { answerServer } from "./answer-server.ts";
import { createDiagnosticsBoard } from "./diagnostics-board.ts";
import { CLIENT_CAPABILITIES, type LspCapabilities } from "./protocol.ts";
import type { ServerProcess } from "./server-process.ts";
import { ServerRefused, ServerSilent, ServerUnavailable } from "./unavailable.ts";
import { createWorkList } from "./work-list.ts";

export interface SessionOptions {
  readonly process: ServerProcess;
  readonly name: string;
  readonly root: Path;
  readonly initializationOptions?: unknown;
  readonly settings?: Readonly<Record<string, unknown>>;
  /** The log line that ends the server's project scan; until then it counts as loading. */
  readonly listed?: RegExp;
  /** Ends the wait for the handshake. */
  readonly signal: AbortSignal;
  readonly patience: Patience;
  /** Receives the server's progress messages. */
  onWork(message: string): void;
}

/** How long an answer may take where the caller does not say. */
export interface Patience {
  /** While the server has not answered yet, or reports that it is busy. */
  readonly firstAnswerMs: number;
  readonly answerMs: number;
}

export type Session = Awaited<ReturnType<typeof openSession>>;

const INITIALIZE_MS = 60_000;
const SHUTDOWN_MS = 1_000;
const MAX_MESSAGE_CHARS = 300;
/** How long a server may take after the handshake to report its work. */
const REPORT_WITHIN_MS = 150;
/** Our own token in the server's work list. */
const LISTING = "octant: lists the project";

/** A conversation with one server, from `initialize` to its end. Throws ServerUnavailable when the handshake fails. */
export async function openSession(options: SessionOptions) {
  const { process: server, name, root, initializationOptions, settings = {}, listed } = options;
  const rpc = await import("vscode-jsonrpc/node");
  const connection = rpc.createMessageConnection(
    new rpc.StreamMessageReader(server.output),
    createMessageWriter(rpc, server.input),
    SILENT,
  );
  const gone = new AbortController();
  void server.exited.then((how) => gone.abort(how));
  connection.onClose(() => gone.abort("it has closed its output"));
  connection.onError(([cause]) => gone.abort(cause.message));

  const registered = new Map<string, string>();
  const work = createWorkList();
  const troubles = new Map<string | number, string>();
  const diagnostics = createDiagnosticsBoard();
  const registrations = createTopic<void>({ maxEvents: 0 });
  answerServer(connection, {
    settings,
    registered,
    work,
    troubles,
    diagnostics,
    root,
    onWork: options.onWork,
    onRegistered: () => registrations.publish(),
  });
  if (listed) {
    work.begin(LISTING);
    connection.onNotification("window/logMessage", ({ message }: { message: string }) => {
      if (listed.test(message)) work.end(LISTING);
    });
  }
  connection.listen();

  const hasDied = (cause?: unknown) => {
    const last = server.stderrTail().trim().split("\n").at(-1);
    const how = gone.signal.reason ?? String(cause);
    return new ServerUnavailable(`${name} has died (${how})${last ? `: ${last}` : ""}`);
  };
  let isWarm = false;
  /** When a request was given up, if nothing was answered since. */
  let silentSince: number | undefined;
  const usualMs = () => {
    const { answerMs, firstAnswerMs } = options.patience;
    if (work.count() > 0) return Math.max(answerMs, firstAnswerMs - work.busyMs());
    return isWarm ? answerMs : firstAnswerMs;
  };
  const answered = () => {
    isWarm = true;
    silentSince = undefined;
  };
  const send = async (
    method: string,
    params: unknown,
    token: CancellationToken,
    tries = 2,
  ): Promise<unknown> => {
    try {
      const answer = await connection.sendRequest(method, params, token);
      answered();
      return answer;
    } catch (cause) {
      if (gone.signal.aborted || !(cause instanceof rpc.ResponseError)) throw hasDied(cause);
      if (ASK_AGAIN.includes(cause.code) && tries > 1) return send(method, params, token, tries - 1);
      answered();
      throw new ServerRefused(`${name}: ${cause.message.slice(0, MAX_MESSAGE_CHARS)}`);
    }
  };
  /** ServerUnavailable when the server dies, ServerSilent when it does not answer in time, ServerRefused for an error. */
  const request = async <T>(
    method: string,
    params: unknown,
    signal: AbortSignal,
    patienceMs = usualMs(),
  ): Promise<T> => {
    signal.throwIfAborted();
    if (gone.signal.aborted) throw hasDied();
    const sentAt = performance.now();
    const source = new rpc.CancellationTokenSource();
    // Promise.race with abort signals would cost as much as the request itself.
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    const giveUp = (cause: unknown) => {
      source.cancel();
      reject(cause);
    };
    const onCancel = () => giveUp(signal.reason);
    const onGone = () => reject(hasDied());
    const timer = setTimeout(() => {
      giveUp(new ServerSilent(`${name} has not answered within ${patienceMs} ms`));
      // One timeout may be slow work; after a second one without an answer in between, the server counts as dead.
      if (silentSince !== undefined && sentAt >= silentSince && work.count() === 0)
        gone.abort("it no longer answers");
      silentSince ??= performance.now();
    }, patienceMs);
    signal.addEventListener("abort", onCancel);
    gone.signal.addEventListener("abort", onGone);
    send(method, params, source.token).then(resolve, reject);
    try {
      // The protocol says what the method answers with.
      return (await promise) as T;
    } finally {
      clearTimeout(timer);
      signal.removeEventListener("abort", onCancel);
      gone.signal.removeEventListener("abort", onGone);
      source.dispose();
    }
  };
  const notify = (method: string, params: unknown) => {
    // The next request detects a dead server.
    if (!gone.signal.aborted) void connection.sendNotification(method, params).catch(() => {});
  };

  const folder = { uri: pathToUri(root), name: root.slice(root.lastIndexOf("/") + 1) };
  const { capabilities } = await request<{ capabilities: LspCapabilities }>(
    "initialize",
    {
      // A server that cannot find its parent's process would assume that the parent has died.
      processId: server.isApart ? null : process.pid,
      clientInfo: { name: "octant" },
      rootUri: folder.uri,
      rootPath: root,
      workspaceFolders: [folder],
      capabilities: CLIENT_CAPABILITIES,
      ...(initializationOptions !== undefined && { initializationOptions }),
    },
    options.signal,
    INITIALIZE_MS,
  );
  // A server may complete the handshake before it has read the project.
  isWarm = false;
  notify("initialized", {});
  if (Object.keys(settings).length > 0) notify("workspace/didChangeConfiguration", { settings });
  const greeted = performance.now();

  return {
    /** Whether the server says that it can answer such a request. */
    can: (capability: string) =>
      Boolean(capabilities[capability]) ||
      [...registered.values()].includes(METHODS[capability] ?? capability),
    /** Called when the server registers a capability; call the result to unsubscribe. */
    onRegistered: (listener: () => void) => registrations.listen(() => listener()),
    /** Whether it knows a command of this name. */
    knows: (command: string) => capabilities.executeCommandProvider?.commands?.includes(command) ?? false,
    request,
    notify,
    diagnostics,
    /** The server has died, or can no longer be spoken to. */
    isOver: () => gone.signal.aborted,
    /**
     * Resolves when the server reports no work under way, or when it has been working for this long: however many
     * questions come while it loads a project, together they wait only once.
     */
    async settled(patienceMs: number, signal: AbortSignal) {
      const untilReport = REPORT_WITHIN_MS - (performance.now() - greeted);
      if (untilReport > 0) await work.begun(AbortSignal.timeout(Math.ceil(untilReport)));
      const left = AbortSignal.timeout(Math.max(0, Math.ceil(patienceMs - work.busyMs())));
      await work.done(AbortSignal.any([signal, gone.signal, left]));
      signal.throwIfAborted();
      if (gone.signal.aborted) throw hasDied();
    },
    /** The server reports work in progress, so its answers may be incomplete. */
    isLoading: () => work.count() > 0 || troubles.size > 0,
    /** Why the server cannot load the project, or a part of it. */
    trouble: () => troubles.values().next().value?.split("\n")[0]?.slice(0, MAX_MESSAGE_CHARS),
    /** Sends the shutdown messages; the process is then killed. */
    async close() {
      const finish = server.ending();
      try {
        await request("shutdown", undefined, NEVER, SHUTDOWN_MS);
        notify("exit", undefined);
        await Promise.race([server.exited, delay(SHUTDOWN_MS)]);
      } catch {
        // It is killed in any case.
      }
      // Pending callers must learn that the server exited, not that it refused.
      gone.abort("it was ended");
      connection.dispose();
      await finish();
    },
  };
}

const NEVER = new AbortController().signal;
/** The file changed during the request, or the server was busy with something that invalidated the answer. */
const ASK_AGAIN: readonly number[] = [-32_801, -32_802];
const SILENT = { error() {}, warn() {}, info() {}, log() {} };
/** Capabilities that a server may register later, under the name of their method. */
const METHODS: Readonly<Record<string, string>> = {
  diagnosticProvider: "textDocument/diagnostic",
  documentFormattingProvider: "textDocument/formatting",
  documentRangeFormattingProvider: "textDocument/rangeFormatting",
  renameProvider: "textDocument/rename",
};

/**
 * Writes each message in one piece. The library's own writer sends the header first and waits for it to be taken, so
 * that the server is woken up twice; that is half the cost of a short request.
 */
function createMessageWriter(rpc: typeof import("vscode-jsonrpc/node"), input: Writable): MessageWriter {
  return {
    // The exit event reports the server's failure.
    onError: rpc.Event.None,
    onClose: rpc.Event.None,
    async write(message) {
      const body = JSON.stringify(message);
      input.write(`Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
    },
    end() {},
    dispose() {},
  };
}
