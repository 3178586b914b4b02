import { PassThrough } from "node:stream";
import { describeToolHost } from "@octant/agent/contracts";
import { createStreamClient, createZmqClient, serveStream, serveZmq } from "@octant/wire";
import { createFolder, openHost, serving } from "../../testing/served-octant.ts";
import { createLocalHost } from "./local-host.ts";

describeToolHost("of this process", async (tool) => {
  const { root, env, open, remove } = createFolder();
  const octant = open(tool, "enforce");
  return {
    root,
    host: createLocalHost(octant, env),
    async [Symbol.asyncDispose]() {
      await octant.close();
      remove();
    },
  };
});

describeToolHost("over ZeroMQ", async (tool) => {
  const { base, root, open, remove } = createFolder();
  const address = `ipc://${base}/sockets/host`;
  const serve = async () => {
    const octant = open(tool, "host");
    const server = await serveZmq({ ...serving(octant), address });
    return async () => {
      await server.close();
      await octant.close();
    };
  };
  let stop = await serve();
  const client = createZmqClient({ address });
  await client.ready();
  const host = await openHost(client.dispatch);
  return {
    root,
    host,
    async lose() {
      await stop();
      stop = await serve();
    },
    async [Symbol.asyncDispose]() {
      await host.close();
      client.close();
      await stop();
      remove();
    },
  };
});

describeToolHost("over a pair of byte streams", async (tool) => {
  const { root, open, remove } = createFolder();
  const closing: Promise<void>[] = [];
  let lose = () => {};
  const client = createStreamClient({
    address: "stream",
    open() {
      const [up, down] = [new PassThrough(), new PassThrough()];
      const octant = open(tool, "host");
      const server = serveStream({ ...serving(octant), input: up, output: down });
      closing.push(server.closed.then(() => octant.close()));
      const close = () => {
        up.end();
        down.end();
      };
      lose = close;
      return { input: down, output: up, reason: () => "it ended", close };
    },
  });
  await client.ready();
  const host = await openHost(client.dispatch);
  return {
    root,
    host,
    lose: async () => lose(),
    async [Symbol.asyncDispose]() {
      await host.close();
      client.close();
      await Promise.all(closing);
      remove();
    },
  };
});
