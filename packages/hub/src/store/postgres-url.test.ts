import { createServer } from "node:net";
import { expect, inject, onTestFinished, test } from "vitest";
import { startPostgres } from "../../testing/postgres-cluster.ts";
import { connectToPostgres } from "./postgres-connection.ts";
import { openPostgresHubStore } from "./postgres-hub-store.ts";
import { parsePostgresUrl } from "./postgres-url.ts";

const freePort = () =>
  new Promise<number>((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const address = server.address();
      server.close(() => resolve(typeof address === "object" && address ? address.port : 0));
    });
  });

test("a refused URL names the parameter and never the password", () => {
  const messages = ["https://u:hunter2@h/d", "postgres://u:hunter2@h/d?sslmode=no", "hunter2"].map((url) => {
    try {
      return String(parsePostgresUrl(url));
    } catch (cause) {
      return String(cause);
    }
  });
  expect(messages.join()).toMatch(/postgres:\/\/user@host.*sslmode is one of.*postgres:\/\/user@host/s);
  expect(messages.join()).not.toContain("hunter2");
});

test.skipIf(inject("missing").includes("postgresql"))(
  "each sslmode checks as much of the server's certificate as it says",
  async () => {
    using server = startPostgres({ tlsPort: await freePort() });
    const url = server.createDatabase();
    const isEncrypted = async (parameters: string, given = url) => {
      const { sql, close } = connectToPostgres({ url: `${given}?${parameters}`, log() {} });
      onTestFinished(close);
      const [row] = await sql`SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()`;
      return row?.["ssl"];
    };
    const byNumber = url.replace("@localhost", "@127.0.0.1");
    expect(await isEncrypted("sslmode=disable")).toBe(false);
    expect(await isEncrypted("")).toBe(true);
    expect(await isEncrypted("sslmode=require")).toBe(true);
    expect(await isEncrypted(`sslmode=verify-full&sslrootcert=${server.cert}`)).toBe(true);
    expect(await isEncrypted(`sslmode=verify-ca&sslrootcert=${server.cert}`, byNumber)).toBe(true);
    const refused = { code: "UPSTREAM_ERROR", message: expect.stringContaining("check --database") };
    for (const [address, parameters] of [
      [url, "sslmode=verify-full"],
      [byNumber, `sslmode=verify-full&sslrootcert=${server.cert}`],
      [url.replace("octant@", "nobody@"), "sslmode=require"],
    ])
      await expect(
        openPostgresHubStore({ url: `${address}?${parameters}`, patienceMs: 0, log() {} }),
      ).rejects.toMatchObject(refused);
  },
);
