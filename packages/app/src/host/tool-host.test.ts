import { mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { describeToolHost } from "@octant/agent/contracts";
import type { Dispatch, Tool } from "@octant/core";
import { createStreamClient, createZmqClient, serveStream, serveZmq } from "@octant/wire";
import { LOCAL_CALLER } from "../edges.ts";
import { createOctant, type Octant } from "../octant.ts";
import { createLocalHost } from "./local-host.ts";
import { openRemoteHost } from "./remote-host.ts";

/** An empty project and the environment of a person with an empty home. */
function createFolder() {
  const base = realpathSync(mkdtempSync(join(tmpdir(), "octant-host-")));
  const root = join(base, "project");
  for (const folder of ["project", "home", "sockets"]) mkdirSync(join(base, folder), { mode: 0o700 });
  const env = { PATH: process.env["PATH"], HOME: join(base, "home"), XDG_STATE_HOME: join(base, "state") };
  const open = (tool: Tool, permissions: "enforce" | "host") =>
    createOctant({ roots: [root], env, permissions, customTools: [tool], checkpointsByDefault: true });
  return { base, root, env, open, remove: () => rmSync(base, { recursive: true, force: true }) };
}

const serving = (octant: Octant) => ({
  ...octant,
  dispatch: octant.wireDispatch,
  jobs: octant.workspace.jobs,
  caller: LOCAL_CALLER,
  name: "octant",
  version: "1",
  log: () => {},
});

const openHost = (dispatch: Dispatch) => openRemoteHost({ dispatch, onRestart() {} });

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
