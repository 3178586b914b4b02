import type { Client, OAuthClientProvider, Transport } from "@modelcontextprotocol/client";
import { ToolError } from "@octant/core";
import { boundedFetch } from "./bounded-fetch.ts";
import { toPlainText } from "./definitions.ts";
import { createStdioTransport, type StartedProgram } from "./stdio-transport.ts";

/** How to reach a server: a program to start, or an address. */
export type ServerDefinition =
  | {
      readonly command: string;
      readonly args?: readonly string[];
      readonly env?: Readonly<Record<string, string>>;
    }
  | { readonly url: string; readonly headers?: Readonly<Record<string, string>> };

export type ProgramDefinition = Extract<ServerDefinition, { command: string }>;

/** A server's question to the person. */
export interface Elicitation {
  readonly server: string;
  readonly message: string;
  /** A JSON Schema of flat fields; absent when the person is sent to an address. */
  readonly schema?: Readonly<Record<string, unknown>>;
  readonly url?: string;
}

export interface ElicitationAnswer {
  readonly action: "accept" | "decline" | "cancel";
  readonly content?: Record<string, string | number | boolean | string[]>;
}

export interface ConnectionOptions {
  readonly server: string;
  readonly definition: ServerDefinition;
  readonly version: string;
  /** URIs of the person's workspace folders. */
  readonly roots: readonly string[];
  /** Starts a server's program under the rules of this machine. */
  start(server: string, definition: ProgramDefinition): Promise<StartedProgram>;
  /** Stores the tokens of a remote server. */
  auth?(server: string, url: string): OAuthClientProvider | undefined;
  /** Without it servers learn that nobody can be asked. */
  elicit?(question: Elicitation, signal: AbortSignal): Promise<ElicitationAnswer>;
  onToolsChanged(): void;
  /** The prompts or resources have changed. */
  onOffersChanged(): void;
  onClosed(reason: string): void;
  readonly connectMs?: number;
  /** Ends the attempt to connect. */
  readonly signal: AbortSignal;
}

const CONNECT_MS = 60_000;
/** Older servers never answer the probe for the newer protocol. */
const PROBE_MS = 5_000;

/** Connects with the newest common revision; UNAUTHENTICATED when the server requires a sign-in. */
export async function connect(options: ConnectionOptions): Promise<Client> {
  const failures: unknown[] = [];
  for (const way of waysTo(options)) {
    try {
      return await connectBy(way, options);
    } catch (cause) {
      if (await isUnauthorized(cause)) throw needsLogin(options.server, cause);
      failures.push(cause);
      if (options.signal.aborted || !way.isNextWorthTrying(cause)) break;
    }
  }
  // For an address, the first failure is about the usual protocol; for a program, the last one came after the longest
  // wait.
  throw toPlainError(failures.at("command" in options.definition ? -1 : 0));
}

interface Way {
  readonly mode: "auto" | "legacy";
  open(): Promise<Opened>;
  isNextWorthTrying(cause: unknown): boolean;
}

interface Opened {
  readonly transport: Transport;
  /** Why we closed it. */
  problem?(): string | undefined;
  stderrTail?(): string;
  /** Whether its program has exited. */
  hasExited?(): boolean;
}

function waysTo(options: ConnectionOptions): readonly Way[] {
  const { server, definition } = options;
  if ("command" in definition) {
    const open = async () => createStdioTransport(() => options.start(server, definition));
    // Some older servers exit when they receive a request before the handshake.
    return [
      { mode: "auto", open, isNextWorthTrying: (cause) => !(cause instanceof ToolError) },
      { mode: "legacy", open, isNextWorthTrying: () => false },
    ];
  }
  const url = new URL(definition.url);
  const { headers = {} } = definition;
  if (/^wss?:$/.test(url.protocol)) {
    const open = async () => {
      const { createWebSocketTransport } = await import("./websocket-transport.ts");
      return createWebSocketTransport(url, headers);
    };
    return [{ mode: "auto", open, isNextWorthTrying: () => false }];
  }
  const authProvider = options.auth?.(server, definition.url);
  const shared = { requestInit: { headers }, fetch: boundedFetch, ...(authProvider && { authProvider }) };
  return [
    {
      mode: "auto",
      open: async () => {
        const { StreamableHTTPClientTransport } = await loadSdk();
        return { transport: new StreamableHTTPClientTransport(url, shared) };
      },
      // The specification of 2025-03-26 identifies older servers by these statuses.
      isNextWorthTrying: (cause) => [400, 404, 405].includes(Object(Object(cause).data).status),
    },
    {
      mode: "legacy",
      open: async () => {
        const { SSEClientTransport } = await loadSdk();
        return { transport: new SSEClientTransport(url, shared) };
      },
      isNextWorthTrying: () => false,
    },
  ];
}

/** Loaded with the first server: most runs have none. */
const loadSdk = () => import("@modelcontextprotocol/client");

async function connectBy({ mode, open }: Way, options: ConnectionOptions): Promise<Client> {
  const { Client } = await loadSdk();
  const { version, roots, elicit, server, connectMs = CONNECT_MS } = options;
  const client = new Client(
    { name: "octant", title: "Octant", version },
    {
      capabilities: { roots: {}, ...(elicit && { elicitation: { form: { applyDefaults: true }, url: {} } }) },
      versionNegotiation: mode === "auto" ? { mode, probe: { timeoutMs: PROBE_MS } } : { mode },
      listChanged: {
        tools: { autoRefresh: false, onChanged: () => options.onToolsChanged() },
        prompts: { autoRefresh: false, onChanged: () => options.onOffersChanged() },
        resources: { autoRefresh: false, onChanged: () => options.onOffersChanged() },
      },
      // Schemas come from the server; validating against them would run its patterns, which may be slow.
      jsonSchemaValidator: {
        getValidator: () => (data) => ({ valid: true, data: data as never, errorMessage: undefined }),
      },
    },
  );
  client.setRequestHandler("roots/list", () => ({ roots: roots.map((uri) => ({ uri })) }));
  if (elicit)
    client.setRequestHandler("elicitation/create", async ({ params }, { mcpReq }) => ({
      ...(await elicit(toElicitation(server, params), mcpReq.signal)),
    }));
  const { transport, problem, stderrTail, hasExited } = await open();
  // Connection errors end in a close event, which has the reason.
  client.onerror = () => {};
  try {
    const signal = AbortSignal.any([options.signal, AbortSignal.timeout(connectMs)]);
    await Promise.race([client.connect(transport, { timeout: connectMs }), rejectOn(signal)]);
  } catch (cause) {
    const why = problem?.() ?? (hasExited?.() && "the program ended before it answered");
    const failure = why ? new Error(why, { cause }) : cause;
    await client.close().catch(() => {});
    await transport.close().catch(() => {});
    throw stderrTail ? withComplaints(toPlainError(failure), stderrTail()) : failure;
  }
  client.onclose = () =>
    options.onClosed(problem?.() ?? (stderrTail?.().trim() || "the connection was closed"));
  return client;
}

const rejectOn = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => {
    const fail = () => reject(new Error("the server did not answer in time"));
    if (signal.aborted) fail();
    signal.addEventListener("abort", fail, { once: true });
  });

/** The SDK describes failures of its first request in its own terms, and fetch hides the system's error. */
function toPlainError(cause: unknown): unknown {
  const { code, data, cause: inner } = Object(cause);
  if (code === "ERA_NEGOTIATION_FAILED" && inner) return toPlainError(inner);
  if (code === "ERA_NEGOTIATION_FAILED" && Object(data).status)
    return new Error(`the server answered with HTTP ${data.status}`, { cause });
  const why = Object(inner).code ?? Object(inner).message;
  return cause instanceof TypeError && why
    ? new Error(`the address cannot be reached: ${why}`, { cause })
    : cause;
}

const SHOWN_CHARS = 300;

/** A program's stderr before it ended is more informative than the exit: its error, or else its last lines. */
function withComplaints(cause: unknown, stderrTail: string): unknown {
  if (!(cause instanceof Error) || cause instanceof ToolError) return cause;
  const lines = stderrTail.split("\n").filter((line) => line.trim() !== "");
  const said = lines.find((line) => /error|cannot|failed/i.test(line)) ?? lines.at(-1);
  if (said === undefined) return cause;
  return new Error(`${cause.message}; it wrote: ${said.trim().slice(0, SHOWN_CHARS)}`, { cause });
}

function toElicitation(server: string, params: object): Elicitation {
  const { message, requestedSchema, url } = params as {
    message: string;
    requestedSchema?: Record<string, unknown>;
    url?: string;
  }; // The SDK has validated the request against its schema.
  return {
    server,
    message: toPlainText(message),
    ...(requestedSchema && { schema: requestedSchema }),
    ...(url !== undefined && { url }),
  };
}

export async function isUnauthorized(cause: unknown): Promise<boolean> {
  if (cause instanceof ToolError) return cause.code === "UNAUTHENTICATED";
  const { UnauthorizedError } = await loadSdk();
  return UnauthorizedError.isInstance(cause) || Object(Object(cause).data).status === 401;
}

export const needsLogin = (server: string, cause: unknown): ToolError =>
  new ToolError(
    "UNAUTHENTICATED",
    `MCP server '${server}' requires a sign-in; run: octant mcp login ${server}`,
    {},
    { cause },
  );
