import { PassThrough } from "node:stream";
import { setTimeout as delay } from "node:timers/promises";
import { describeToolHost } from "@octant/agent/contracts";
import { defineTool } from "@octant/core";
import { createStreamClient, createZmqClient, serveStream, serveZmq } from "@octant/wire";
import { expect, onTestFinished, test } from "vitest";
import { createFolder, openHost, serving } from "../../testing/served-octant.ts";
import { createLocalHost } from "./local-host.ts";
import { openRemoteHost } from "./remote-host.ts";

test("a server that is slow to start is waited for longer than one that is restarted", async () => {
  const { open, remove } = createFolder();
  const octant = open(defineTool({ name: "demo", summary: "Does nothing.", actions: {} }), "host");
  onTestFinished(async () => {
    await octant.close();
    remove();
  });
  const host = await openRemoteHost({
    async dispatch(call, options) {
      // As on a machine where many start at once.
      if (call.action === "open") await delay(300);
      return octant.wireDispatch(call, options);
    },
    onRestart() {},
    waitMs: 50,
  });
  expect(host.roots).toHaveLength(1);
  await host.close();
});

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
