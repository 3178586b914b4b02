import { once } from "node:events";
import { createServer, request } from "node:http";
import { type AddressInfo, connect, createServer as createTcpServer } from "node:net";
import { text } from "node:stream/consumers";
import { afterEach, expect, test } from "vitest";
import type { HttpProxy } from "../network/http-proxy.ts";
import { findRule, mayConnect, parseHostRule, parseTarget } from "./host-rules.ts";
import { createProxy } from "./proxy.ts";

const opened: { close(): unknown }[] = [];
afterEach(async () => {
  for (const one of opened.splice(0)) await one.close();
});

async function startServer(answer: string): Promise<number> {
  const server = createServer((incoming, response) =>
    response.end(`${answer} ${incoming.url} ${incoming.headers.host}`),
  );
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  opened.push(server);
  return (server.address() as AddressInfo).port;
}

async function startProxy(...args: Parameters<typeof createProxy>): Promise<HttpProxy> {
  const proxy = await createProxy(...args);
  opened.push(proxy);
  return proxy;
}

async function get(proxy: HttpProxy, url: string): Promise<string> {
  const sent = request({
    socketPath: proxy.address,
    path: url,
    headers: { host: "other", "proxy-authorization": "x" },
  }).end();
  const [response] = await once(sent, "response");
  return `${response.statusCode} ${await text(response)}`.trim();
}

async function tunnel(proxy: HttpProxy, line: string | Buffer): Promise<string> {
  const socket = connect(proxy.address);
  socket.write(line);
  const [bytes] = await once(socket, "data");
  socket.destroy();
  return String(bytes).split("\r\n")[0]!;
}

test("a listed host is reached, with the host of the address and not of a header", async () => {
  const port = await startServer("hello");
  const proxy = await startProxy([`127.0.0.1:${port}`]);
  expect(await get(proxy, `http://127.0.0.1:${port}/a?b`)).toBe(`200 hello /a?b 127.0.0.1:${port}`);
});

test("a tunnel carries bytes both ways", async () => {
  const echo = createTcpServer((socket) => socket.pipe(socket)).listen(0, "127.0.0.1");
  await once(echo, "listening");
  opened.push(echo);
  const { port } = echo.address() as AddressInfo;
  const proxy = await startProxy([`127.0.0.1:${port}`]);
  const socket = connect(proxy.address);
  socket.write(`CONNECT 127.0.0.1:${port} HTTP/1.1\r\nHost: x\r\n\r\n`);
  const [head] = await once(socket, "data");
  expect(String(head)).toMatch(/^HTTP\/1\.1 200 /);
  socket.write("ping");
  const [back] = await once(socket, "data");
  expect(String(back)).toBe("ping");
  socket.destroy();
});

test("a host, a port or a spelling that is not listed is refused", async () => {
  const proxy = await startProxy(["example.com", "*.example.org", "10.0.0.1:8080"], {
    resolve: async () => ["93.184.216.34"],
  });
  for (const host of [
    "example.net:443",
    "example.com:22",
    "example.org:443",
    "xexample.org:443",
    "10.0.0.1:80",
    "example.com.evil.net:443",
  ])
    expect(await tunnel(proxy, `CONNECT ${host} HTTP/1.1\r\nHost: x\r\n\r\n`), host).toBe(
      "HTTP/1.1 403 Forbidden",
    );
  for (const host of [
    "evil.net\0.example.org:443",
    "example.com@evil.net:443",
    "a..example.org:443",
    "example.com:99999",
  ]) {
    const answer = await tunnel(proxy, Buffer.from(`CONNECT ${host} HTTP/1.1\r\nHost: x\r\n\r\n`));
    expect(answer, host).toMatch(/^HTTP\/1\.1 40[03] /);
  }
});

test("a listed name that leads into this network is refused, whichever of its addresses does", async () => {
  for (const address of [
    "127.0.0.1",
    "10.1.2.3",
    "169.254.169.254",
    "::1",
    "fe80::1",
    "fd00::1",
    "::ffff:127.0.0.1",
    "0.0.0.0",
    "100.64.0.1",
  ]) {
    const proxy = await startProxy(["name.example"], { resolve: async () => ["93.184.216.34", address] });
    expect(await get(proxy, "http://name.example/"), address).toMatch(/^403 .*address of this network/);
  }
});

test("rules read hosts, ports and addresses, and nothing else", () => {
  expect(parseHostRule("Example.COM.")).toEqual({ host: "example.com", below: false, ports: [80, 443] });
  expect(parseHostRule("*.a.b:8443")).toEqual({ host: "a.b", below: true, ports: [8443] });
  expect(parseHostRule("[::1]:80")).toEqual({ host: "::1", below: false, ports: [80] });
  for (const bad of ["", "*", "a b", "http://a", "a/b", "a:0", "a:b", "ä.de", "-a"])
    expect(() => parseHostRule(bad), bad).toThrow(TypeError);
  expect(parseTarget("a.b:443")).toEqual({ host: "a.b", port: 443 });
  const local = parseHostRule("localhost:3000");
  expect(findRule([local], { host: "localhost", port: 3000 })).toBe(local);
  expect([mayConnect(local, "127.0.0.1"), mayConnect(local, "10.0.0.1")]).toEqual([true, false]);
});
