import { Agent, type IncomingMessage, type ServerResponse, request as send } from "node:http";
import { type Duplex, pipeline } from "node:stream";
import { ToolError } from "@octant/core";
import { refuseUpgrade } from "@octant/http";
import type { PreviewTarget } from "./preview-address.ts";
import { toBrowser, toContainer } from "./preview-headers.ts";

export interface PreviewProxyOptions {
  /** A connection to a port in the container of a project. */
  connect(target: PreviewTarget): Promise<Duplex>;
}

export interface PreviewRequest {
  readonly target: PreviewTarget;
  readonly keepsAuthorization: boolean;
}

export type PreviewProxy = ReturnType<typeof createPreviewProxy>;

/** Connections of one preview for requests; each is a process in the container. */
const MAX_CONNECTIONS = 8;
const MAX_WEBSOCKETS = 32;
/** A connection that waits for its next request. */
const IDLE_MS = 5_000;
const BAD_GATEWAY = 502;
const FIRST_STATUS = 200;

/** Passes requests and WebSockets on to ports in containers. */
export function createPreviewProxy({ connect }: PreviewProxyOptions) {
  const agents = new Map<string, Agent>();
  const sockets = new Map<string, Set<Duplex>>();
  const keyOf = ({ project_id, port }: PreviewTarget) => `${project_id}:${port}`;
  const agentOf = (target: PreviewTarget): Agent => {
    const known = agents.get(keyOf(target)) ?? new PreviewAgent(() => connect(target));
    agents.set(keyOf(target), known);
    return known;
  };
  const open = (request: IncomingMessage, { target, keepsAuthorization }: PreviewRequest, more: object) =>
    send({
      method: request.method,
      path: request.url,
      headers: { ...toContainer(request.headers, target, { keepsAuthorization }), ...more },
      agent: agentOf(target),
    });

  return {
    handle(request: IncomingMessage, response: ServerResponse, asked: PreviewRequest): void {
      const outgoing = open(request, asked, {});
      outgoing.on("response", (answer) => {
        const { statusCode = 0, headers } = answer;
        // Node parses such a status, and throws when it is to be sent.
        if (statusCode < FIRST_STATUS)
          return refusePlainly(response, new Error(`its status is ${statusCode}`));
        response.writeHead(statusCode, toBrowser(headers, asked.target));
        pipeline(answer, response, () => {});
      });
      outgoing.on("upgrade", (_answer, upstream) => {
        upstream.destroy();
        refusePlainly(response, new Error("it changes the protocol unasked"));
      });
      outgoing.on("error", (cause) => refusePlainly(response, cause));
      response.on("close", () => outgoing.destroy());
      pipeline(request, outgoing, () => {});
    },
    upgrade(request: IncomingMessage, socket: Duplex, head: Buffer, asked: PreviewRequest) {
      const own = sockets.get(keyOf(asked.target)) ?? new Set();
      if (own.size >= MAX_WEBSOCKETS)
        return refuseUpgrade(socket, {
          status: 503,
          message: `a preview has at most ${MAX_WEBSOCKETS} WebSockets`,
        });
      sockets.set(keyOf(asked.target), own.add(socket));
      const outgoing = open(request, asked, { connection: "Upgrade", upgrade: request.headers.upgrade });
      socket.on("close", () => {
        own.delete(socket);
        outgoing.destroy();
      });
      outgoing.on("error", (cause) =>
        refuseUpgrade(socket, { status: BAD_GATEWAY, message: reasonOf(cause) }),
      );
      outgoing.on("response", ({ statusCode = BAD_GATEWAY }) => {
        outgoing.destroy();
        refuseUpgrade(socket, {
          status: statusCode < FIRST_STATUS ? BAD_GATEWAY : statusCode,
          message: "the server in the container refused the WebSocket",
        });
      });
      outgoing.on("upgrade", (answer, upstream, first) => {
        const headers = {
          ...toBrowser(answer.headers, asked.target),
          connection: "Upgrade",
          upgrade: answer.headers.upgrade,
        };
        socket.write(toHead(headers));
        socket.write(first);
        upstream.write(head);
        join(socket, upstream);
      });
      outgoing.end();
    },
    close(): void {
      for (const agent of agents.values()) agent.destroy();
      for (const own of sockets.values()) for (const socket of own) socket.destroy();
    },
  };
}

/** Connections of one preview that wait for their next request are used again. */
class PreviewAgent extends Agent {
  readonly #connect: () => Promise<Duplex>;
  constructor(connect: () => Promise<Duplex>) {
    super({ keepAlive: true, maxSockets: MAX_CONNECTIONS, timeout: IDLE_MS });
    this.#connect = connect;
  }
  override createConnection(
    _options: object,
    done: (cause: Error | null, stream: Duplex) => void,
  ): undefined {
    this.#connect().then(
      (stream) => done(null, stream),
      // Without a stream, as Node's own agents report it.
      (cause: Error) => done(cause, undefined as unknown as Duplex),
    );
  }
}

/** Either ends with the other. */
function join(one: Duplex, other: Duplex): void {
  for (const [from, to] of [
    [one, other],
    [other, one],
  ] as const) {
    from.on("error", () => to.destroy()).on("close", () => to.destroy());
    from.pipe(to);
  }
}

function toHead(headers: Readonly<Record<string, unknown>>): string {
  const lines = Object.entries(headers).flatMap(([name, value]) =>
    (Array.isArray(value) ? value : [value]).map((one) => `${name}: ${one}\r\n`),
  );
  return `HTTP/1.1 101 Switching Protocols\r\n${lines.join("")}\r\n`;
}

const reasonOf = (cause: Error): string =>
  cause instanceof ToolError
    ? cause.message
    : `the server in the container does not answer: ${cause.message}`;

function refusePlainly(response: ServerResponse, cause: Error): void {
  if (response.headersSent) return void response.destroy();
  response
    .writeHead(BAD_GATEWAY, { "content-type": "text/plain; charset=utf-8" })
    .end(`${reasonOf(cause)}\n`);
}
