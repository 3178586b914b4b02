import { describeToolHost } from "@octant/agent/contracts";
import { createPlaceHost, createPlacesClient, createStreamClient, serveStream } from "@octant/wire";
import { inject } from "vitest";
import { createFolder, openHost, serving } from "../packages/app/testing/served-octant.ts";
import { startNatsServer } from "../packages/wire/testing/nats-server.ts";

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
    const toolHost = await openHost(client.dispatch);
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
