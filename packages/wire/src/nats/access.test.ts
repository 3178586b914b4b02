import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createAccount, createOperator, createUser } from "@nats-io/nkeys";
import { afterAll, beforeAll, describe, expect, inject, onTestFinished, test } from "vitest";
import { startNatsServer } from "../../testing/nats-server.ts";
import type { NatsAddress } from "./address.ts";
import { connectNats } from "./connection.ts";
import { JOBS_STREAM, KEPT_BUCKET } from "./subjects.ts";
import { createPlacesClient } from "./wanted-places.ts";

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
      message: expect.stringMatching(/Authorization Violation; check .*--nats-nkey$/),
    });
    await expect(canConnect({ url })).rejects.toMatchObject({ code: "UPSTREAM_ERROR" });
  });

  test("a credentials file signs in, and one of another account's user does not", async () => {
    const [operator, account, system, user, stranger] = [
      ...[createOperator(), createAccount(), createAccount(), createUser(), createUser()],
    ];
    if (!operator || !account || !system || !user || !stranger) throw new Error("five keys were made");
    const unlimited = { mem_storage: -1, disk_storage: -1, streams: -1, consumer: -1 };
    const limits = { subs: -1, data: -1, payload: -1, conn: -1, imports: -1, exports: -1, ...unlimited };
    const accountJwt = toJwt(operator, account, { type: "account", limits });
    const systemJwt = toJwt(operator, system, {
      type: "account",
      limits: { ...limits, mem_storage: 0, disk_storage: 0 },
    });
    const url = await start(`
      operator: ${toJwt(operator, operator, { type: "operator", system_account: system.getPublicKey() })}
      system_account: ${system.getPublicKey()}
      resolver: MEMORY
      resolver_preload: {
        ${account.getPublicKey()}: ${accountJwt}
        ${system.getPublicKey()}: ${systemJwt}
      }`);
    const sub = { type: "user", subs: -1, data: -1, payload: -1 };
    writeFileSync(at("user.creds"), toCreds(toJwt(account, user, sub), user));
    // Signed by itself.
    writeFileSync(at("stranger.creds"), toCreds(toJwt(stranger, stranger, sub), stranger));
    expect(await canConnect({ url, creds: at("user.creds") })).toBe(true);
    for (const address of [{ url }, { url, creds: at("stranger.creds") }])
      await expect(canConnect(address)).rejects.toMatchObject({ code: "UPSTREAM_ERROR" });
  });

  test("everything ages out but what is kept for hubs", async () => {
    const server = await startNatsServer();
    onTestFinished(() => server.stop());
    const client = await createPlacesClient(server);
    onTestFinished(() => client.close());
    await client.openKeptObjects();
    const connection = await connectNats(server, "test");
    onTestFinished(() => connection.close());
    const ages = new Map<string, boolean>();
    for await (const { config } of connection.jsm.streams.list()) ages.set(config.name, config.max_age > 0);
    expect(ages.size).toBe(7);
    expect([...ages].filter(([, isAging]) => !isAging)).toEqual([[`OBJ_${KEPT_BUCKET}`, false]]);
  });

  test("more replicas than servers are refused, and a cluster stores as many as were asked for", async () => {
    const alone = await startNatsServer();
    onTestFinished(() => alone.stop());
    await expect(canConnect({ ...alone, replicas: 3 })).rejects.toMatchObject({
      code: "UPSTREAM_ERROR",
      message: expect.stringContaining("check --nats-replicas"),
    });

    const ports = await Promise.all([0, 1, 2].map(freePort));
    const routes = ports.map((port) => `nats://127.0.0.1:${port}`).join(", ");
    const servers = await Promise.all(
      ports.map((port, n) =>
        startNatsServer({
          config: `server_name: s${n}, cluster { name: c, listen: "127.0.0.1:${port}", routes: [${routes}] }
            authorization { user: octant, password: octant }`,
        }),
      ),
    );
    onTestFinished(async () => void (await Promise.all(servers.map((one) => one.stop()))));
    const [first] = servers.map(({ url }) => ({ url: url.replace("//", "//octant:octant@") }));
    if (!first) throw new Error("three servers were started");
    // The servers elect a leader first.
    await expect.poll(() => canConnect(first).catch(() => false), { timeout: 60_000 }).toBe(true);
    const client = await createPlacesClient({ ...first, replicas: 3 });
    onTestFinished(() => client.close());
    const kept = await client.openKeptObjects();
    const connection = await connectNats({ ...first, replicas: 3 }, "test");
    onTestFinished(() => connection.close());
    const replicas = new Set<number>();
    for await (const { config } of connection.jsm.streams.list()) replicas.add(config.num_replicas);
    expect([...replicas]).toEqual([3]);
    writeFileSync(at("file"), "kept");
    await kept.put("name", at("file"));
    await servers[2]?.kill();
    // The others may have to elect a leader again.
    const isThere = () =>
      kept.get("name", at("copy")).then(
        () => true,
        () => false,
      );
    await expect.poll(isThere, { timeout: 60_000 }).toBe(true);
    expect(readFileSync(at("copy"), "utf8")).toBe("kept");
    await servers[2]?.restart();
  }, 120_000);

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

test("a file without a key is named before the server is asked", async () => {
  const url = "nats://127.0.0.1:1";
  const file = at("note.txt");
  writeFileSync(file, "no key");
  for (const address of [{ creds: file }, { nkey: file }])
    await expect(canConnect({ url, ...address })).rejects.toMatchObject({
      code: "INVALID_ARGUMENT",
      message: expect.stringContaining(file),
    });
});

test("a client waits for a server whose name is not found yet", async () => {
  const onWaiting = (line: string) => {
    throw new Error(line);
  };
  await expect(canConnect({ url: "nats://nats.invalid:4222", onWaiting })).rejects.toThrow(
    /^waits for NATS at nats:\/\/nats.invalid:4222: /,
  );
});

type Pair = ReturnType<typeof createUser>;

/** A JWT of NATS: signed by an nkey. */
function toJwt(issuer: Pair, subject: Pair, nats: object): string {
  const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const claims = {
    ...{ jti: "test", iat: 1_700_000_000, name: "test", nats: { version: 2, ...nats } },
    ...{ iss: issuer.getPublicKey(), sub: subject.getPublicKey() },
  };
  const text = `${encode({ typ: "JWT", alg: "ed25519-nkey" })}.${encode(claims)}`;
  return `${text}.${Buffer.from(issuer.sign(Buffer.from(text))).toString("base64url")}`;
}

const toCreds = (jwt: string, user: Pair): string =>
  [
    "-----BEGIN NATS USER JWT-----",
    jwt,
    "------END NATS USER JWT------",
    "",
    "-----BEGIN USER NKEY SEED-----",
    Buffer.from(user.getSeed()).toString(),
    "------END USER NKEY SEED------",
    "",
  ].join("\n");

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
