import { buffer } from "node:stream/consumers";
import { finished } from "node:stream/promises";
import { connect, type NatsConnection } from "@nats-io/transport-node";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { type NatsServer, startNatsServer } from "../../testing/nats-server.ts";
import { createByteReader, createByteWriter } from "./byte-channel.ts";

const numbered = (size: number) => Buffer.from(Array.from({ length: size }, (_, n) => (n * 31) % 251));

describe.skipIf(inject("missing").includes("nats-server"))("a byte channel", () => {
  let server: NatsServer;
  let nc: NatsConnection;
  let subjects = 0;
  beforeAll(async () => {
    server = await startNatsServer();
    const { host, username: user, password: pass } = new URL(server.url);
    nc = await connect({ servers: host, user, pass });
  });
  afterAll(async () => {
    await nc?.close();
    await server?.stop();
  });
  const open = (through: NatsConnection = nc) => {
    const subject = `octant.test.${subjects++}`;
    const reader = createByteReader({ nc: through, subject });
    return { writer: createByteWriter({ nc: through, subject }), reader };
  };

  test("carries nothing, one byte and megabytes in order, and its end", async () => {
    for (const size of [0, 1, 64 * 1024, 64 * 1024 + 1, 3_000_000]) {
      const { writer, reader } = open();
      writer.end(numbered(size));
      expect((await buffer(reader)).equals(numbered(size))).toBe(true);
      reader.close();
    }
  });

  test("loses, repeats and reorders nothing on a connection that does", async () => {
    let n = 0;
    const held: (() => void)[] = [];
    // Every seventh message is lost, every fifth comes twice, every third comes later.
    const lossy: NatsConnection = Object.assign(Object.create(nc), {
      publish(subject: string, data: Uint8Array) {
        n += 1;
        for (const late of held.splice(0)) late();
        if (n % 7 === 0) return;
        if (n % 3 === 0) return void held.push(() => nc.publish(subject, data));
        nc.publish(subject, data);
        if (n % 5 === 0) nc.publish(subject, data);
      },
      isClosed: () => nc.isClosed(),
      subscribe: nc.subscribe.bind(nc),
    });
    const { writer, reader } = open(lossy);
    writer.end(numbered(700_000));
    expect((await buffer(reader)).equals(numbered(700_000))).toBe(true);
    reader.close();
  });

  test("a reader that does not read stops the writer, and goes on from there", async () => {
    const { writer, reader } = open();
    let isDone = false;
    writer.end(numbered(5_000_000), () => {
      isDone = true;
    });
    reader.read(0);
    await expect.poll(() => reader.readableLength).toBeGreaterThan(0);
    // The window is one megabyte.
    expect(isDone).toBe(false);
    expect((await buffer(reader)).length).toBe(5_000_000);
    await expect.poll(() => isDone).toBe(true);
    reader.close();
  });

  test("a writer whose reader is gone ends when it is closed, before or after its end", async () => {
    const [early, late] = [0, 1].map(() => createByteWriter({ nc, subject: `octant.test.${subjects++}` }));
    const timers = () => process.getActiveResourcesInfo().filter((name) => name === "Timeout").length;
    const before = timers();
    late?.end("unread");
    early?.write("unread");
    early?.close();
    early?.end();
    late?.close();
    await Promise.all([early, late].map((one) => one && finished(one)));
    expect(timers()).toBe(before);
  });
});
