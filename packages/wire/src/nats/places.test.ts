import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { setTimeout as delay } from "node:timers/promises";
import { describe, expect, inject, onTestFinished, test } from "vitest";
import { createLossyNetwork } from "../../testing/lossy-network.ts";
import { startNatsServer } from "../../testing/nats-server.ts";
import { parseBody } from "./bodies.ts";
import { connectNats } from "./connection.ts";
import { createPlaceHost, type OfferedPlace } from "./place-host.ts";
import { answerPlaceRequests, createPlaceRequests } from "./place-requests.ts";
import { placeSubjects } from "./subjects.ts";
import { createPlacesClient } from "./wanted-places.ts";

type PlaceHost = Awaited<ReturnType<typeof createPlaceHost>>;

/** The subjects that docs/wire.md tells people to allow. */
function documentedSubjects(): string {
  const page = readFileSync(join(import.meta.dirname, "../../../../docs/wire.md"), "utf8");
  const sentence = /They need the subjects ([^\n]*?), and wait/.exec(page)?.[1] ?? "";
  return [...sentence.matchAll(/`([^`]+)`/g)].map(([, subject]) => `"${subject}"`).join(", ");
}

const nextOf = async (host: PlaceHost): Promise<OfferedPlace> => (await host.next()) ?? nextOf(host);

describe.skipIf(inject("missing").includes("nats-server"))("places", () => {
  test("need only the subjects that the manual names: to be taken, used, kept and closed", async () => {
    const subjects = documentedSubjects();
    expect(subjects).toContain("octant.>");
    const permissions = `{ publish: [${subjects}], subscribe: [${subjects}] }`;
    const users = `{ user: octant, password: octant, permissions: ${permissions} }`;
    const server = await startNatsServer({ config: `authorization { users: [${users}] }` });
    onTestFinished(() => server.stop());
    const url = server.url.replace("//", "//octant:octant@");
    const client = await createPlacesClient({ url });
    const host = await createPlaceHost({ url }, { name: "h", labels: ["any"], log() {} });
    onTestFinished(async () => {
      await client.close();
      await host.close();
    });
    const wanted = await client.want({ key: "one", label: "any", memory_mb: 0 });
    const taken = await (await nextOf(host)).take({
      async answer(operation) {
        if (operation === "close") void taken?.release(true);
        return operation;
      },
      onLost() {},
    });
    const place = await wanted.current();
    expect(await place.ask("hello")).toBe("hello");
    taken?.writer("x", "out").end("bytes");
    expect(await text(place.reader("x", "out"))).toBe("bytes");
    const folder = mkdtempSync(join(tmpdir(), "octant-kept-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    writeFileSync(join(folder, "file"), "kept");
    const kept = await client.openKeptObjects();
    await kept.put("name", join(folder, "file"));
    await kept.get("name", join(folder, "copy"));
    expect(readFileSync(join(folder, "copy"), "utf8")).toBe("kept");
    await wanted.close();
    // What nobody wants any more leaves the queue, so that the same place can be asked for again.
    const connection = await connectNats({ url }, "test");
    onTestFinished(() => connection.close());
    await expect
      .poll(async () => (await connection.jsm.streams.info("OCTANT_PLACES")).state.messages)
      .toBe(0);
  });

  test("run a request once, however long it takes and however many come meanwhile", async () => {
    const server = await startNatsServer();
    onTestFinished(() => server.stop());
    const [near, far] = [await connectNats(server, "hub"), await connectNats(server, "host")];
    onTestFinished(async () => {
      await near.close();
      await far.close();
    });
    const lease_id = "lease_1";
    const runs: string[] = [];
    const slow = Promise.withResolvers<string>();
    answerPlaceRequests(far, {
      ...{ lease_id, opened: Promise.resolve(), isHeld: () => true, log() {} },
      async answer(operation) {
        runs.push(operation);
        return operation === "slow" ? slow.promise : operation;
      },
    });
    const lost = new AbortController();
    const { ask } = createPlaceRequests(near, { lease_id, owner: "hub", lost: lost.signal });
    let sent = 0;
    const again = Promise.withResolvers<void>();
    far.nc.subscribe(placeSubjects(lease_id).request, {
      callback: (_, message) =>
        void parseBody(message, far.bodies, { once: false }).then((request) => {
          sent += Object(request).operation === "slow" ? 1 : 0;
          if (sent === 2) again.resolve();
        }),
    });
    const asked = ask("slow");
    for (let n = 0; n < 300; n += 1) await ask("quick");
    // The hub sends it again, because it has no answer yet.
    await again.promise;
    await ask("last");
    slow.resolve("done");
    expect(await asked).toBe("done");
    expect(runs.filter((operation) => operation === "slow")).toHaveLength(1);
    lost.abort(new Error("over"));
  });

  test("are served again over a new connection when the network has dropped one without a word", async () => {
    const server = await startNatsServer();
    onTestFinished(() => server.stop());
    const network = await createLossyNetwork({ host: "127.0.0.1", port: Number(new URL(server.url).port) });
    onTestFinished(() => network.close());
    const address = { url: server.url.replace(/:\d+$/, `:${network.port}`) };
    const connection = await connectNats(address, "test");
    onTestFinished(() => connection.close());
    network.silence();
    await expect
      .poll(() => Promise.race([connection.nc.rtt().catch(() => "away"), delay(500, "silent")]), {
        timeout: 60_000,
      })
      .toEqual(expect.any(Number));
  }, 90_000);
});
