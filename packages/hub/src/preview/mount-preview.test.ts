import { once } from "node:events";
import { request } from "node:http";
import { createHttpServer } from "@octant/http";
import { expect, onTestFinished, test } from "vitest";
import { LINK_PARAMETER, mountPreview } from "./mount-preview.ts";
import { parsePreviewAddress } from "./preview-address.ts";
import { createPreviewGrants } from "./preview-grants.ts";
import { createPreviewProxy } from "./preview-proxy.ts";

const HOST = "80-x.localhost";

async function serve() {
  const tokens = { verify: () => undefined, find: () => undefined, list: () => [] };
  const server = await createHttpServer({ tokens, resourcePath: "/mcp", log: () => {} });
  const grants = createPreviewGrants();
  const unused = () => Promise.reject(new Error("unused"));
  mountPreview(server, {
    dispatch: unused,
    address: parsePreviewAddress("http://*.localhost"),
    grants,
    proxy: createPreviewProxy({ connect: unused }),
  });
  await server.listen();
  onTestFinished(() => server.close());
  const ask = async (path: string) => {
    const to = { host: "127.0.0.1", port: server.port, path, agent: false, headers: { host: HOST } };
    const [answer] = await once(request(to).end(), "response");
    answer.resume();
    return answer;
  };
  return { ask, grants };
}

test.each(["//", "//:0", "///[", "http://[", "*", "/%"])(
  "a request from nobody in particular does not stop the hub: %s",
  async (path) => {
    const { ask } = await serve();
    expect((await ask(path)).statusCode).toBe(401);
  },
);

test("a link leads to the preview's own host, whatever its path", async () => {
  const { ask, grants } = await serve();
  const caller = { id: "me", access: "admin" } as const;
  for (const path of ["//evil.example/a", "/.//evil.example/a"]) {
    const code = grants.createLink({ project_id: "project_x", port: 80, caller });
    const { statusCode, headers } = await ask(`${path}?${LINK_PARAMETER}=${code}`);
    expect({ statusCode, location: headers.location }).toEqual({
      statusCode: 303,
      location: "/evil.example/a",
    });
  }
});
