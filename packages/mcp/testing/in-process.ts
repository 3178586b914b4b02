import { Client, type ClientOptions, type Transport } from "@modelcontextprotocol/client";
import type { ServiceOptions } from "../src/service.ts";
import { type StdioOptions, type StdioServer, serveStdio } from "../src/stdio.ts";
import { createLineClient } from "./lines.ts";

/** The official client on a server in the same process. */
export const connectInProcess = (service: ServiceOptions, options: ClientOptions, name?: string) =>
  connectTo((lines) => serveStdio({ ...service, ...lines }), options, name);

export async function connectTo(
  serve: (streams: Pick<StdioOptions, "input" | "output">) => StdioServer,
  options: ClientOptions,
  name = "test",
): Promise<{ readonly client: Client; close(): Promise<void> }> {
  const lines = createLineClient();
  const server = serve(lines);
  let open = true;
  const transport: Transport = {
    async start() {
      void read();
    },
    async send(message) {
      lines.send(message);
    },
    async close() {
      open = false;
      await server.close();
      transport.onclose?.();
    },
  };
  const read = async () => {
    while (open) {
      const line = await lines.next();
      // Looked up now: a client changes its handler after its probe.
      transport.onmessage?.(JSON.parse(line));
    }
  };
  const client = new Client({ name, version: "1" }, options);
  await client.connect(transport);
  return { client, close: () => client.close() };
}
