import type { Duplex } from "node:stream";

/** Answers a CONNECT request and connects its two ends until one of them closes. */
export function joinTunnel(socket: Duplex, upstream: Duplex, head: Buffer): void {
  upstream.on("error", () => socket.destroy());
  upstream.on("close", () => socket.destroy());
  socket.on("close", () => upstream.destroy());
  socket.write("HTTP/1.1 200 Connection Established\r\n\r\n");
  upstream.write(head);
  socket.pipe(upstream).pipe(socket);
}
