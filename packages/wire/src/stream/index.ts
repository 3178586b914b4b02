// The parts that a process needs to call another one over byte streams: neither ZeroMQ nor NATS is loaded for it.
export { createRemoteRegistry, type ToolDeclaration, toListedDeclaration } from "../declarations.ts";
export type { WireClient } from "../hoot01/client.ts";
export { createStreamClient, type ServerStreams, type StreamClientOptions } from "./client.ts";
export { type StreamServer, type StreamServerOptions, serveStream } from "./server.ts";
