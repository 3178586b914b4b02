export {
  type ActionDeclaration,
  createRemoteTools,
  type RemoteTools,
  type ToolDeclaration,
  toDeclaration,
} from "./declarations.ts";
export type { FinalResponse, RequestEnvelope, ResponseEnvelope } from "./envelopes.ts";
export {
  COMMANDS,
  CONTENT_TYPES,
  encodeFrames,
  MAX_BODY_BYTES,
  type Message,
  parseFrames,
  type RoutedMessage,
} from "./hoot01/frames.ts";
export { encodeMsgPack, parseMsgPack } from "./msgpack/codec.ts";
export { createNatsClient, type NatsClient, type NatsClientOptions } from "./nats/client.ts";
export { createNatsWorker, type NatsWorker } from "./nats/worker.ts";
export type { NatsWorkerOptions } from "./nats/worker-parts.ts";
export type { ServerReady } from "./ready.ts";
export type { JobFeed, RequestRunner } from "./run-request.ts";
export { createZmqClient, type ZmqClient, type ZmqClientOptions } from "./zmq/client.ts";
export { createKeys, loadKeys, type WireKeys } from "./zmq/keys.ts";
export type { WireCallOptions } from "./zmq/pending-request.ts";
export { serveZmq, type ZmqServer, type ZmqServerOptions } from "./zmq/server.ts";
