import { Context } from "zeromq";
import { WireClient, type WireClientOptions } from "../hoot01/client.ts";
import { Connection } from "./connection.ts";
import { parseEndpoint } from "./endpoint.ts";

export type ZmqClientOptions = WireClientOptions;

/** Calls a server that listens on a ZeroMQ socket. */
export function createZmqClient(options: ZmqClientOptions): WireClient {
  const { address, keys } = options;
  parseEndpoint(address);
  const context = new Context();
  return new WireClient({
    ...options,
    connect: (events) => new Connection(address, keys, context, events),
    explainSilence: () =>
      address.startsWith("tcp:") && !keys
        ? "a client of a tcp server needs a copy of its key file: --keys FILE"
        : `is octant serve --zmq running there${keys ? ", with these keys" : ""}?`,
  });
}
