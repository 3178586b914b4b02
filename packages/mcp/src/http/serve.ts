import { createHttpServer } from "@octant/http";
import { MCP_PATH } from "./endpoint.ts";
import { answerFrontPage } from "./front-page.ts";
import { MCP_CORS, mountMcp } from "./mount.ts";
import type { HttpOptions, HttpServer } from "./options.ts";

/** A listener with MCP on it, in both eras, for callers with a token. */
export async function serveHttp(options: HttpOptions): Promise<HttpServer> {
  const server = await createHttpServer({ ...options, resourcePath: MCP_PATH, cors: MCP_CORS });
  mountMcp(server, options);
  server.mount("/", {
    handlePublic: (request, response) => answerFrontPage(request, response, server.url),
  });
  await server.listen();
  return server;
}
