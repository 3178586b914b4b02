import { once } from "node:events";
import { createServer, request as send } from "node:http";
import type { AddressInfo } from "node:net";

/**
 * Forwards everything unchanged, with a token. The suite has no tokens, and our edge requires one, so the edge is
 * tested as served.
 */
export async function createTokenFront(
  to: URL,
  token: string,
): Promise<{ readonly url: string; close(): Promise<void> }> {
  const front = createServer((request, response) => {
    const headers = { ...request.headers, authorization: `Bearer ${token}` };
    const { method = "GET", url: path = "/" } = request;
    const onward = send({ host: to.hostname, port: to.port, method, path, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.rawHeaders);
      response.flushHeaders();
      answer.pipe(response);
    });
    onward.on("error", () => response.destroy());
    response.on("close", () => onward.destroy());
    request.pipe(onward);
  });
  front.listen(0, "127.0.0.1");
  await once(front, "listening");
  // It listens on a port, not on a pipe.
  const { port } = front.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}${to.pathname}`,
    async close() {
      front.closeAllConnections();
      front.close();
      await once(front, "close");
    },
  };
}
