import type { IncomingMessage, ServerResponse } from "node:http";
import type { NetworkPolicy, Resolve } from "@octant/host";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startTestServer, type TestServer } from "../packages/tools/testing/net/http-server.ts";
import { createNetWorkspace, LOCAL, REMOTE } from "../packages/tools/testing/net/net-workspace.ts";

/** PORT is the port of servers on 127.0.0.0/8 and ::1; /to?URL there redirects to URL. */
type Outcome = "reached" | "NET_BLOCKED" | "INVALID_ARGUMENT" | "LIMIT_EXCEEDED" | "UPSTREAM_ERROR";

/** The addresses of names in these tests; each answer is for one lookup, the last for all further ones. */
const NAMES: Readonly<Record<string, readonly (readonly string[])[]>> = {
  localhost: [["127.0.0.1"]],
  "localhost.": [["127.0.0.1"]],
  "one.test": [["127.0.0.1"]],
  "both.test": [["::1", "127.0.0.1"]],
  "xn--nexchen-n2a.test": [["127.0.0.1"]],
  "mapped.test": [["::ffff:127.0.0.1"]],
  "private.test": [["10.0.0.1"]],
  "mixed.test": [["127.0.0.1", "10.0.0.1"]],
  "metadata.test": [["169.254.169.254"]],
  "zone.test": [["fe80::1%lo"]],
  "zoned-loopback.test": [["::1%lo"]],
  "garbage.test": [["127.0.0.1.evil"]],
  "nowhere.test": [[]],
  // Rebinding: fine when checked, private when connected to.
  "rebind.test": [["127.0.0.1"], ["10.0.0.1"]],
  "metadata.google.internal": [["127.0.0.1"]],
};

const LOOPBACK: readonly [string, Outcome][] = [
  ["http://127.0.0.1:PORT/", "reached"],
  ["http://127.0.0.2:PORT/", "reached"],
  ["http://127.1:PORT/", "reached"],
  ["http://127.0.1:PORT/", "reached"],
  ["http://2130706433:PORT/", "reached"],
  ["http://0x7f000001:PORT/", "reached"],
  ["http://0x7F.1:PORT/", "reached"],
  ["http://0177.0.0.1:PORT/", "reached"],
  ["http://017700000001:PORT/", "reached"],
  ["http://127.0.0.1.:PORT/", "reached"],
  ["http://127%2e0%2e0%2e1:PORT/", "reached"],
  ["http://①②⑦.⓪.⓪.①:PORT/", "reached"],
  ["http://１２７。０。０。１:PORT/", "reached"],
  ["http://[::1]:PORT/", "reached"],
  ["http://[0:0:0:0:0:0:0:1]:PORT/", "reached"],
  ["http://[::ffff:127.0.0.1]:PORT/", "reached"],
  ["http://[::ffff:7f00:1]:PORT/", "reached"],
  ["HTTP://LOCALHOST:PORT/", "reached"],
  ["http://localhost.:PORT/", "reached"],
  ["http://loc\u00adalhost:PORT/", "reached"],
  ["http:\\\\localhost:PORT\\", "reached"],
  ["http:localhost:PORT", "reached"],
  ["  http://local\thost:PORT/\n", "reached"],
  ["http://user:secret@localhost:PORT/", "reached"],
  ["http://10.0.0.1@localhost:PORT/", "reached"],
  ["http://one.test:PORT/", "reached"],
  ["http://both.test:PORT/", "reached"],
  ["http://nüexchen.test:PORT/", "reached"],
  ["http://mapped.test:PORT/", "reached"],
];

const NEVER: readonly [string, Outcome][] = [
  ["http://0.0.0.0:PORT/", "NET_BLOCKED"],
  ["http://0:PORT/", "NET_BLOCKED"],
  ["http://0.1.2.3:PORT/", "NET_BLOCKED"],
  ["http://[::]:PORT/", "NET_BLOCKED"],
  ["http://[::ffff:0.0.0.0]:PORT/", "NET_BLOCKED"],
  ["http://169.254.169.254/latest/meta-data/", "NET_BLOCKED"],
  ["http://2852039166/", "NET_BLOCKED"],
  ["http://0xa9fea9fe/", "NET_BLOCKED"],
  ["http://0251.0376.0251.0376/", "NET_BLOCKED"],
  ["http://169.254.43518/", "NET_BLOCKED"],
  ["http://[::ffff:169.254.169.254]/", "NET_BLOCKED"],
  ["http://[::ffff:a9fe:a9fe]/", "NET_BLOCKED"],
  ["http://169.254.1.1/", "NET_BLOCKED"],
  ["http://100.100.100.200/", "NET_BLOCKED"],
  ["http://168.63.129.16/", "NET_BLOCKED"],
  ["http://192.0.0.192/", "NET_BLOCKED"],
  ["http://[fd00:ec2::254]/", "NET_BLOCKED"],
  ["http://[fd20:ce::254]/", "NET_BLOCKED"],
  ["http://[fe80::1]/", "NET_BLOCKED"],
  ["http://metadata.google.internal:PORT/", "NET_BLOCKED"],
  ["http://METADATA.google.internal.:PORT/", "NET_BLOCKED"],
  ["http://metadata.test/", "NET_BLOCKED"],
  ["http://224.0.0.1/", "NET_BLOCKED"],
  ["http://239.255.255.250:1900/", "NET_BLOCKED"],
  ["http://255.255.255.255/", "NET_BLOCKED"],
  ["http://240.0.0.1/", "NET_BLOCKED"],
  ["http://192.0.2.1/", "NET_BLOCKED"],
  ["http://198.18.0.1/", "NET_BLOCKED"],
  ["http://[ff02::1]/", "NET_BLOCKED"],
  ["http://[2001:db8::1]/", "NET_BLOCKED"],
  ["http://[100::1]/", "NET_BLOCKED"],
  ["http://[fec0::1]/", "NET_BLOCKED"],
  ["http://[4000::1]/", "NET_BLOCKED"],
  ["http://[::127.0.0.1]:PORT/", "NET_BLOCKED"],
  ["http://[::ffff:0:127.0.0.1]:PORT/", "NET_BLOCKED"],
  ["http://[64:ff9b::127.0.0.1]:PORT/", "NET_BLOCKED"],
  ["http://[64:ff9b::10.0.0.1]/", "NET_BLOCKED"],
  ["http://[64:ff9b:1::7f00:1]/", "NET_BLOCKED"],
  ["http://[2002:7f00:1::1]:PORT/", "NET_BLOCKED"],
  ["http://[2002:a9fe:a9fe::]/", "NET_BLOCKED"],
  ["http://[2001:0:a00:1::1]/", "NET_BLOCKED"],
  ["http://[2001:0:808:808:0:0:f5ff:fffe]/", "NET_BLOCKED"],
  ["http://[2001:470::5efe:10.0.0.1]/", "NET_BLOCKED"],
  ["http://zone.test:PORT/", "NET_BLOCKED"],
  ["http://zoned-loopback.test:PORT/", "NET_BLOCKED"],
  ["http://garbage.test:PORT/", "NET_BLOCKED"],
];

const PRIVATE: readonly [string, Outcome][] = [
  ["http://10.0.0.1/", "NET_BLOCKED"],
  ["http://167772161/", "NET_BLOCKED"],
  ["http://172.16.0.1/", "NET_BLOCKED"],
  ["http://172.31.255.255/", "NET_BLOCKED"],
  ["http://192.168.1.1/", "NET_BLOCKED"],
  ["http://100.64.0.1/", "NET_BLOCKED"],
  ["http://[::ffff:10.0.0.1]/", "NET_BLOCKED"],
  ["http://[fc00::1]/", "NET_BLOCKED"],
  ["http://[fd12:3456::1]/", "NET_BLOCKED"],
  ["http://localhost@10.0.0.1/", "NET_BLOCKED"],
  ["http://private.test/", "NET_BLOCKED"],
  ["http://mixed.test:PORT/", "NET_BLOCKED"],
];

const PORTS: readonly [string, Outcome][] = [
  ["http://127.0.0.1:0/", "NET_BLOCKED"],
  ["http://127.0.0.1:22/", "NET_BLOCKED"],
  ["http://127.0.0.1:25/", "NET_BLOCKED"],
  ["https://127.0.0.1:6667/", "NET_BLOCKED"],
  ["http://127.0.0.1:0x16/", "INVALID_ARGUMENT"],
  ["http://127.0.0.1:65536/", "INVALID_ARGUMENT"],
];

const UNREADABLE: readonly [string, Outcome][] = [
  ["http://", "INVALID_ARGUMENT"],
  ["127.0.0.1:PORT/", "INVALID_ARGUMENT"],
  ["//127.0.0.1:PORT/", "INVALID_ARGUMENT"],
  ["localhost:PORT/", "INVALID_ARGUMENT"],
  ["http://[fe80::1%25lo]/", "INVALID_ARGUMENT"],
  ["http://[::1%lo]:PORT/", "INVALID_ARGUMENT"],
  ["http://256.256.256.256/", "INVALID_ARGUMENT"],
  ["http://127.0.0.1.5:PORT/", "INVALID_ARGUMENT"],
  ["http://local\0host:PORT/", "INVALID_ARGUMENT"],
  ["http://local%00host:PORT/", "INVALID_ARGUMENT"],
  ["http://local host/", "INVALID_ARGUMENT"],
  ["file:///etc/passwd", "INVALID_ARGUMENT"],
  ["ftp://127.0.0.1/", "INVALID_ARGUMENT"],
  ["ws://127.0.0.1:PORT/", "INVALID_ARGUMENT"],
  ["data:text/plain,hello", "INVALID_ARGUMENT"],
  ["javascript:alert(1)", "INVALID_ARGUMENT"],
  ["http://nowhere.test/", "UPSTREAM_ERROR"],
];

const REDIRECTS: readonly [string, Outcome][] = [
  ["http://127.0.0.1:PORT/to?/", "reached"],
  ["http://127.0.0.1:PORT/to?//localhost:PORT/", "reached"],
  ["http://127.0.0.1:PORT/to?http://[::1]:PORT/to?http://one.test:PORT/", "reached"],
  ["http://127.0.0.1:PORT/to?http://10.0.0.1/", "NET_BLOCKED"],
  ["http://127.0.0.1:PORT/to?http://169.254.169.254/", "NET_BLOCKED"],
  ["http://127.0.0.1:PORT/to?http://0xa9fea9fe/", "NET_BLOCKED"],
  ["http://127.0.0.1:PORT/to?//[::ffff:a9fe:a9fe]/", "NET_BLOCKED"],
  ["http://127.0.0.1:PORT/to?http://private.test/", "NET_BLOCKED"],
  ["http://127.0.0.1:PORT/to?http://localhost:PORT/to?http://metadata.test/", "NET_BLOCKED"],
  ["http://127.0.0.1:PORT/to?http://localhost:22/", "NET_BLOCKED"],
  ["http://127.0.0.1:PORT/to?http://user:secret@localhost:PORT/", "NET_BLOCKED"],
  ["http://127.0.0.1:PORT/to?file:///etc/passwd", "NET_BLOCKED"],
  ["http://127.0.0.1:PORT/to?javascript:alert(1)", "NET_BLOCKED"],
  ["http://127.0.0.1:PORT/to?gopher://127.0.0.1:PORT/", "NET_BLOCKED"],
  ["http://127.0.0.1:PORT/to?http://[", "UPSTREAM_ERROR"],
  ["http://127.0.0.1:PORT/loop", "LIMIT_EXCEEDED"],
];

const REBINDING: readonly [string, Outcome][] = [
  ["http://rebind.test:PORT/", "reached"],
  ["http://rebind.test:PORT/to?http://rebind.test:PORT/", "NET_BLOCKED"],
  ["http://127.0.0.1:PORT/to?http://rebind.test:PORT/to?http://rebind.test:PORT/", "NET_BLOCKED"],
];

/** The caller, and the person's settings. */
const POLICIES: readonly [string, Partial<NetworkPolicy>, "local" | "remote", string, Outcome][] = [
  ["a caller from elsewhere", {}, "remote", "http://127.0.0.1:PORT/", "NET_BLOCKED"],
  ["a caller from elsewhere", {}, "remote", "http://one.test:PORT/", "NET_BLOCKED"],
  ["a caller from elsewhere", { private: true }, "remote", "http://10.0.0.1/", "NET_BLOCKED"],
  ["what the operator named", { allow: ["127.0.0.1:PORT"] }, "remote", "http://127.0.0.1:PORT/", "reached"],
  [
    "what the operator named",
    { allow: ["127.0.0.1:1234"] },
    "remote",
    "http://127.0.0.1:PORT/",
    "NET_BLOCKED",
  ],
  ["no loopback", { loopback: false }, "local", "http://127.0.0.1:PORT/", "NET_BLOCKED"],
  ["no loopback", { loopback: false }, "local", "http://[::1]:PORT/", "NET_BLOCKED"],
  [
    "no loopback but a name",
    { loopback: false, allow: ["one.test:PORT"] },
    "local",
    "http://one.test:PORT/",
    "reached",
  ],
  [
    "no loopback but a name",
    { loopback: false, allow: ["one.test:PORT"] },
    "local",
    "http://both.test:PORT/",
    "NET_BLOCKED",
  ],
  [
    "no loopback but a range",
    { loopback: false, allow: ["127.0.0.0/8"] },
    "local",
    "http://one.test:PORT/",
    "reached",
  ],
  [
    "no loopback but v6",
    { loopback: false, allow: ["[::1]:PORT"] },
    "local",
    "http://[::1]:PORT/",
    "reached",
  ],
  [
    "metadata on the allow list",
    { allow: ["169.254.169.254", "*"] },
    "local",
    "http://169.254.169.254/",
    "NET_BLOCKED",
  ],
  ["a denied name", { deny: ["one.test"] }, "local", "http://one.test.:PORT/", "NET_BLOCKED"],
  ["a denied name", { deny: ["ONE.test"] }, "local", "http://both.test:PORT/", "reached"],
  [
    "a denied international name",
    { deny: ["nüexchen.test"] },
    "local",
    "http://NÜEXCHEN.test:PORT/",
    "NET_BLOCKED",
  ],
  ["all names below", { deny: ["*.test"] }, "local", "http://one.test:PORT/", "NET_BLOCKED"],
  ["all names below", { deny: ["*.test"] }, "local", "http://localhost:PORT/", "reached"],
  ["a denied address", { deny: ["127.0.0.1"] }, "local", "http://one.test:PORT/", "NET_BLOCKED"],
  ["a denied address", { deny: ["127.0.0.1"] }, "local", "http://mapped.test:PORT/", "NET_BLOCKED"],
  ["a denied port", { deny: ["localhost:PORT"] }, "local", "http://localhost:PORT/", "NET_BLOCKED"],
  ["another port", { deny: ["localhost:1234"] }, "local", "http://localhost:PORT/", "reached"],
  [
    "allowed and denied",
    { allow: ["localhost"], deny: ["localhost"] },
    "local",
    "http://localhost:PORT/",
    "NET_BLOCKED",
  ],
  [
    "denied after a redirect",
    { deny: ["one.test"] },
    "local",
    "http://127.0.0.1:PORT/to?http://one.test:PORT/",
    "NET_BLOCKED",
  ],
  ["one address of two", { allow: ["127.0.0.1"] }, "local", "http://mixed.test:PORT/", "NET_BLOCKED"],
  ["one address of two", { only: ["127.0.0.1"] }, "local", "http://both.test:PORT/", "NET_BLOCKED"],
  ["both addresses", { only: ["127.0.0.1", "::1"] }, "local", "http://both.test:PORT/", "reached"],
  ["only these hosts", { only: ["one.test"] }, "local", "http://one.test:PORT/", "reached"],
  ["only these hosts", { only: ["one.test"] }, "local", "http://localhost:PORT/", "NET_BLOCKED"],
  ["no hosts at all", { only: [] }, "local", "http://127.0.0.1:PORT/", "NET_BLOCKED"],
];

let servers: TestServer[];
let port: number;
let hits = 0;
beforeAll(async () => {
  const v4 = await startTestServer(serve, { host: "0.0.0.0" });
  servers = [v4, await startTestServer(serve, { host: "::1", port: v4.port })];
  port = v4.port;
});
afterAll(() => Promise.all(servers.map((server) => server.close())));

function serve({ url = "/", socket }: IncomingMessage, response: ServerResponse): void {
  const [path, ...query] = url.split("?");
  if (path === "/loop") return void response.writeHead(302, { location: "/loop" }).end();
  if (path === "/to") return void response.writeHead(302, { location: query.join("?") }).end();
  hits++;
  response.end(`reached ${socket.localAddress}`);
}

/** Resolves from the table, and counts the lookups. */
function createResolver(): Resolve & { readonly asked: string[] } {
  const asked: string[] = [];
  const resolve: Resolve = async (host) => {
    const answers = NAMES[host] ?? [["127.0.0.1"]];
    const before = asked.filter((name) => name === host).length;
    asked.push(host);
    return answers[Math.min(before, answers.length - 1)]!;
  };
  return Object.assign(resolve, { asked });
}

async function outcomeOf(
  url: string,
  policy: Partial<NetworkPolicy> = {},
  who: "local" | "remote" = "local",
) {
  const withPort = (text: string) => text.replaceAll("PORT", `${port}`);
  const lists = Object.entries(policy).map(([name, list]) => [
    name,
    Array.isArray(list) ? list.map(withPort) : list,
  ]);
  const resolve = createResolver();
  const ws = createNetWorkspace({ resolve, policy: Object.fromEntries(lists) });
  const before = hits;
  try {
    const envelope = await ws.call(
      "request",
      { url: withPort(url) },
      { caller: who === "local" ? LOCAL : REMOTE },
    );
    expect(hits - before, "requests that arrived").toBe(envelope.ok ? 1 : 0);
    expect(JSON.stringify(envelope)).not.toContain("secret");
    return { outcome: envelope.ok ? "reached" : envelope.error.code, asked: resolve.asked };
  } finally {
    await ws.close();
  }
}

const TABLE = { LOOPBACK, NEVER, PRIVATE, PORTS, UNREADABLE, REDIRECTS, REBINDING };

describe.each(Object.entries(TABLE))("%s", (_, rows) => {
  test.each(rows)("%j is %s", async (url, expected) => {
    expect((await outcomeOf(url)).outcome).toBe(expected);
  });
});

describe("policy", () => {
  test.each(POLICIES)("%s: %j lets a %s caller find %s %s", async (_, policy, who, url, expected) => {
    expect((await outcomeOf(url, policy, who)).outcome).toBe(expected);
  });
});

test("a name is resolved exactly once per hop", async () => {
  expect((await outcomeOf("http://one.test:PORT/to?http://one.test:PORT/")).asked).toEqual([
    "one.test",
    "one.test",
  ]);
  expect((await outcomeOf("http://rebind.test:PORT/")).asked).toEqual(["rebind.test"]);
});

test("a connection opened for a local caller is not reused for a remote one", async () => {
  // Like a rebinding resolver: each of them may reach one of the two addresses.
  const answers = [["127.0.0.1"], ["127.0.0.9"]];
  const ws = createNetWorkspace({
    resolve: async () => answers.shift() ?? [],
    policy: { allow: ["127.0.0.9"] },
  });
  const url = `http://shared.test:${port}/`;
  expect((await ws.ok("request", { url })).text).toBe("reached 127.0.0.1");
  expect((await ws.ok("request", { url }, { caller: REMOTE })).text).toBe("reached 127.0.0.9");
  await ws.close();
});

test("an invalid list is refused when the network is created", () => {
  for (const entry of ["", "a b", "http://host/", "host:99999", "*.*.test", "user@host", "10.0.0.0/99"])
    expect(() => createNetWorkspace({ policy: { deny: [entry] } }), entry).toThrow(TypeError);
});

test("the table has at least 60 URLs", () => {
  expect(Object.values(TABLE).flat().length).toBeGreaterThanOrEqual(60);
});
