import { mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describeToolHost } from "@octant/agent/contracts";
import { createOctant, LOCAL_CALLER, type Octant } from "@octant/app";
import type { Tool } from "@octant/core";
import { createPlaceHost, createPlacesClient, createStreamClient, serveStream } from "@octant/wire";
import { inject } from "vitest";
import { openRemoteHost } from "../packages/app/src/host/remote-host.ts";
import { startNatsServer } from "../packages/wire/testing/nats-server.ts";

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

if (!inject("missing").includes("nats-server"))
  describeToolHost("in a place of a host, over NATS", async (tool) => {
    const { root, open, remove } = createFolder();
    const nats = await startNatsServer();
    const hub = await createPlacesClient({ url: nats.url });
    const host = await createPlaceHost({ url: nats.url }, { name: "one", labels: ["any"], log: () => {} });
    const closing: Promise<void>[] = [];
    let lose = () => {};
    const wanted = await hub.want({ key: "work", label: "any", memory_mb: 0 });
    const offered = await host.next();
    const taken = await offered?.take({
      onLost() {},
      async answer(_operation, input) {
        const { id } = Object(input);
        const octant = open(tool, "host");
        const up = taken?.reader(id, "in");
        const output = taken?.writer(id, "out");
        if (!up || !output) throw new Error("the place is not open");
        const server = serveStream({ ...serving(octant), input: up, output });
        closing.push(server.closed.then(() => octant.close()));
        lose = () => void output.end();
      },
    });
    let opened = 0;
    const client = createStreamClient({
      address: "nats",
      async open() {
        const id = String(opened++);
        const place = await wanted.current();
        const input = place.reader(id, "out");
        await place.ask("open", { id });
        const output = place.writer(id, "in");
        return { input, output, reason: () => "it ended", close: () => void output.end() };
      },
    });
    await client.ready();
    const toolHost = await openRemoteHost({ dispatch: client.dispatch, onRestart() {} });
    return {
      root,
      host: toolHost,
      lose: async () => lose(),
      async [Symbol.asyncDispose]() {
        await toolHost.close();
        client.close();
        await Promise.all(closing);
        await taken?.release(true);
        await host.close();
        await hub.close();
        await nats.stop();
        remove();
      },
    };
  });
