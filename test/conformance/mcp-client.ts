// The client that the conformance suite starts: Octant's own, with an address as its last argument. It signs in where the
// server wants it, and calls every tool once with values that fit.
import { createMcpServers, createStoredProvider, loginTo, type OAuthData } from "@octant/mcp";

const url = process.argv.at(-1) ?? "";
const CALL_MS = 15_000;
const hashes = new Map<string, string>();
let data: OAuthData | undefined;
const storage = {
  load: () => data,
  async save(saved: OAuthData) {
    data = saved;
  },
};

const open = () =>
  createMcpServers({
    servers: { server: { url, headers: {} } },
    version: "1.0.0",
    roots: [],
    start: () => Promise.reject(new Error("there are only addresses here")),
    auth: () => createStoredProvider(storage),
    consent: {
      known: (_server, tool) => hashes.get(tool),
      async remember(_server, tools) {
        for (const { tool, hash } of tools) hashes.set(tool, hash);
      },
    },
    elicit: async () => ({ action: "accept", content: {} }),
    log: console.error,
  });

let servers = open();
await servers.settled();
if (servers.status()[0]?.state === "needs_login") {
  await servers.close();
  let page = "";
  await loginTo({
    url,
    storage,
    redirectUri: "http://127.0.0.1:9/callback",
    state: "state-of-the-test",
    open(at) {
      page = at;
    },
    // The suite's server sends the browser back at once.
    async received() {
      const { headers } = await fetch(page, { redirect: "manual" });
      return new URL(headers.get("location") ?? "");
    },
  });
  servers = open();
  await servers.settled();
}
const VALUES: Readonly<Record<string, unknown>> = {
  number: 2,
  integer: 2,
  boolean: true,
  array: [],
  object: {},
};
for (const { name, input_schema } of servers.tools()) {
  const properties = Object.entries<{ type?: string }>(Object(input_schema["properties"]));
  const input = Object.fromEntries(
    properties.map(([key, { type = "string" }]) => [key, VALUES[type] ?? "x"]),
  );
  const called = servers.call(name, input, { signal: AbortSignal.timeout(CALL_MS) });
  await called.catch((cause) => console.error(`${name}: ${cause}`));
}
await servers.close();
