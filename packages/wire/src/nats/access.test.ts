import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createUser } from "@nats-io/nkeys";
import { afterAll, beforeAll, describe, expect, inject, onTestFinished, test } from "vitest";
import { startNatsServer } from "../../testing/nats-server.ts";
import type { NatsAddress } from "./address.ts";
import { connectNats } from "./connection.ts";
import { JOBS_STREAM } from "./subjects.ts";

let folder: string;
const at = (name: string) => join(folder, name);

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "octant-nats-keys-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

const start = async (config: string): Promise<string> => {
  const server = await startNatsServer({ config });
  onTestFinished(() => server.stop());
  return server.url;
};

const canConnect = async (address: NatsAddress): Promise<true> => {
  const connection = await connectNats(address, "test");
  await connection.close();
  return true;
};

describe.skipIf(inject("missing").includes("nats-server"))("signing in to nats-server", () => {
  test("a server without credentials is refused, unless that is accepted", async () => {
    const url = await start("");
    await expect(canConnect({ url })).rejects.toMatchObject({
      code: "UPSTREAM_ERROR",
      message: expect.stringContaining("--insecure"),
    });
    expect(await canConnect({ url, insecure: true })).toBe(true);
  });

  test("the seed of an nkey signs in, and another one does not", async () => {
    const [user, stranger] = [createUser(), createUser()];
    writeFileSync(at("user.nk"), user.getSeed());
    writeFileSync(at("stranger.nk"), stranger.getSeed());
    const url = await start(`authorization { users: [{ nkey: ${user.getPublicKey()} }] }`);
    expect(await canConnect({ url, nkey: at("user.nk") })).toBe(true);
    await expect(canConnect({ url, nkey: at("stranger.nk") })).rejects.toMatchObject({
      code: "UPSTREAM_ERROR",
    });
    await expect(canConnect({ url })).rejects.toMatchObject({ code: "UPSTREAM_ERROR" });
  });

  test("a client certificate signs in to a server whose certificate the given authority has signed", async () => {
    certificates();
    const tls = `cert_file: "${at("server.crt")}", key_file: "${at("server.key")}", ca_file: "${at("ca.crt")}"`;
    // The client compares the name, also where it connects to an address.
    const url = (await start(`tls { ${tls}, verify: true }`)).replace("127.0.0.1", "localhost");
    const own = { cert: at("client.crt"), key: at("client.key") };
    expect(await canConnect({ url, ca: at("ca.crt"), ...own })).toBe(true);
    await expect(canConnect({ url, ca: at("ca.crt") })).rejects.toMatchObject({ code: "UPSTREAM_ERROR" });
    await expect(canConnect({ url, ca: at("other.crt"), ...own })).rejects.toMatchObject({
      code: "UPSTREAM_ERROR",
    });
  });

  test("streams of an earlier version get the settings of this one", async () => {
    const server = await startNatsServer();
    onTestFinished(() => server.stop());
    const first = await connectNats(server, "test");
    onTestFinished(() => first.close());
    await first.jsm.streams.update(JOBS_STREAM, { max_age: 0 });
    await canConnect(server);
    expect((await first.jsm.streams.info(JOBS_STREAM)).config.max_age).toBeGreaterThan(0);
  });

  test("a client waits for a server that starts later, and says so once", async () => {
    const port = await freePort();
    const said: string[] = [];
    const waiting = Promise.withResolvers<void>();
    const connected = connectNats(
      {
        url: `nats://octant:octant@127.0.0.1:${port}`,
        onWaiting(line) {
          said.push(line);
          waiting.resolve();
        },
      },
      "test",
    );
    await waiting.promise;
    const server = await startNatsServer({ port });
    onTestFinished(() => server.stop());
    await (await connected).close();
    expect(said).toEqual([expect.stringContaining(`waits for NATS at nats://127.0.0.1:${port}`)]);
  });
});

test("half a client certificate and a file that cannot be read are INVALID_ARGUMENT", async () => {
  const url = "nats://127.0.0.1:1";
  for (const address of [{ cert: at("client.crt") }, { creds: at("absent") }, { nkey: at("absent") }])
    await expect(canConnect({ url, ...address })).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
});

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === "string") throw new Error("no port");
  return address.port;
}

/** Two authorities, and a certificate each for the server and the client of the first. */
function certificates(): void {
  const openssl = (...args: readonly string[]) =>
    execFileSync("openssl", args, { cwd: folder, stdio: "pipe" });
  const key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"];
  for (const name of ["ca", "other"])
    openssl("req", "-x509", ...key, "-keyout", `${name}.key`, "-out", `${name}.crt`, "-subj", `/CN=${name}`);
  for (const name of ["server", "client"])
    openssl(
      ...["req", "-x509", ...key, "-keyout", `${name}.key`, "-out", `${name}.crt`, "-subj", `/CN=${name}`],
      ...["-CA", "ca.crt", "-CAkey", "ca.key", "-addext", "subjectAltName=DNS:localhost"],
      ...["-addext", "basicConstraints=critical,CA:FALSE"],
    );
}
