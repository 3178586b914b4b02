export {
  createRemoteRegistry,
  followServer,
  type ToolDeclaration,
  toDeclaration,
  toForeignTool,
} from "./declarations.ts";

export type { WireClient } from "./hoot01/client.ts";
export { encodeFrames } from "./hoot01/frames.ts";
export { encodeMsgPack, parseMsgPack } from "./msgpack/codec.ts";
export type { NatsAddress } from "./nats/address.ts";
export { createNatsClient, type NatsClient } from "./nats/client.ts";
export type { KeptObjects } from "./nats/kept-objects.ts";
export {
  createPlaceHost,
  type OfferedPlace,
  type TakenPlace,
} from "./nats/place-host.ts";
export {
  createPlacesClient,
  type HeldPlace,
  type PlaceNeeds,
  type PlacesClient,
  type WantedPlace,
} from "./nats/wanted-places.ts";
export { createNatsWorker, type NatsWorker } from "./nats/worker.ts";

export { createStreamClient, type ServerStreams, type StreamClientOptions } from "./stream/client.ts";
export { type StreamServer, type StreamServerOptions, serveStream } from "./stream/server.ts";

export { createZmqClient, type ZmqClientOptions } from "./zmq/client.ts";
export { createKeys, loadKeys, type WireKeys } from "./zmq/keys.ts";

export { serveZmq, type ZmqServer } from "./zmq/server.ts";
