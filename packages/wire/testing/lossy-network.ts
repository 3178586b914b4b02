import { once } from "node:events";
import { type AddressInfo, connect, createServer, type NetConnectOpts, type Socket } from "node:net";

/** A way to a server on a port of this machine whose connections can go silent, as when a network drops them. */
export async function createLossyNetwork(to: NetConnectOpts) {
  const all = new Set<Socket>();
  const server = createServer((near) => {
    const far = connect(to);
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      all.add(one);
      one.pipe(other);
      one.on("error", () => other.destroy());
      one.on("close", () => other.destroy());
    }
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    // It listens on a port.
    port: (server.address() as AddressInfo).port,
    /** What is connected now never hears anything again, and is not told. */
    silence(): void {
      for (const one of all) {
        one.unpipe();
        one.removeAllListeners("close");
        one.on("data", () => {});
      }
    },
    async close(): Promise<void> {
      for (const one of all) one.destroy();
      server.close();
    },
  };
}
