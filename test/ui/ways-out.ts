// A page that tries every way to send a request, and the server that it tries to reach.
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect } from "vitest";
import type { UiClient } from "./ui-client.ts";

export interface WaysOut extends AsyncDisposable {
  /** The page; it tries to reach the host and port in its query. */
  readonly url: string;
  readonly allowed: Reached;
  readonly denied: Reached;
}

/** A server, and what reached it. */
export interface Reached {
  readonly host: string;
  /** The ways that a request came, by their names. */
  readonly ways: Set<string>;
  /** TCP connections, also without a request, and UDP packets. */
  readonly contacts: () => number;
}

/** First the denied host: once all ways have reached the allowed one, they had time to reach it too. */
export async function tryWays(
  { ui }: UiClient,
  { url, allowed, denied }: WaysOut,
  why = "deny list",
): Promise<void> {
  const { blocked } = await ui("navigate", { url: `${url}/?to=${denied.host}` });
  expect(blocked.join()).toContain(why);
  await ui("navigate", { url: `${url}/?to=${allowed.host}` });
  const missing = () => PROVEN.filter((way) => !allowed.ways.has(way));
  await expect.poll(missing, { timeout: 30_000 }).toEqual([]);
  expect([...denied.ways]).toEqual([]);
  expect(denied.contacts()).toBe(0);
}

/** Those that a page can prove by a request; the others can only show that there was none. */
const PROVEN = [
  ...["fetch", "xhr", "img", "script", "style", "import", "frame", "object", "font", "prefetch", "preload"],
  ...["beacon", "ping", "events", "socket", "worker", "shared", "service", "report", "form", "popup"],
  ...["redirect", "icon", "video", "refresh", "blob-document", "keepalive"],
];

const page = (to: string) => `<!doctype html><title>Ways out</title>
<link rel=stylesheet href="http://${to}/style"><style>@import "http://${to}/import"; @font-face { font-family: f; src: url(http://${to}/font); } p { font-family: f; }</style>
<link rel=prefetch href="http://${to}/prefetch"><link rel=preload as=image href="http://${to}/preload"><link rel=icon href="http://${to}/icon">
<link rel=dns-prefetch href="//${to}"><link rel=preconnect href="//${to}">
<script type=speculationrules>{ "prefetch": [{ "urls": ["http://${to}/speculation"] }] }</script>
<p>Text</p><img src="http://${to}/img"><script src="http://${to}/script"></script><object data="http://${to}/object"></object><video src="http://${to}/video" autoplay muted></video>
<iframe src="http://${to}/frame"></iframe><iframe srcdoc='<meta http-equiv=refresh content="0;url=http://${to}/refresh">'></iframe><iframe src="/report?to=${to}"></iframe>
<iframe name=posted></iframe><form target=posted method=post action="http://${to}/form"></form><a href=#here ping="http://${to}/ping">ping</a>
<script>
const to = "${to}";
const inWorker = (way) => "fetch('http://" + to + "/" + way + "', { mode: 'no-cors' })";
const tries = [
  () => fetch("http://" + to + "/fetch", { mode: "no-cors" }),
  () => fetch("http://" + to + "/keepalive", { mode: "no-cors", keepalive: true }),
  () => fetch("/redirect?to=" + to, { mode: "no-cors" }),
  () => { const request = new XMLHttpRequest(); request.open("GET", "http://" + to + "/xhr"); request.send(); },
  () => navigator.sendBeacon("http://" + to + "/beacon", "x"),
  () => document.querySelector("a").click(),
  () => new EventSource("http://" + to + "/events"),
  () => new WebSocket("ws://" + to + "/socket"),
  () => new Worker(URL.createObjectURL(new Blob([inWorker("worker")]))),
  () => new SharedWorker(URL.createObjectURL(new Blob([inWorker("shared")]))),
  () => navigator.serviceWorker.register("/service.js?to=" + to),
  () => document.forms[0].submit(),
  () => window.open("http://" + to + "/popup"),
  () => { const frame = document.createElement("iframe"); frame.src = URL.createObjectURL(new Blob(["<img src=http://" + to + "/blob-document>"], { type: "text/html" })); document.body.append(frame); },
  () => new WebTransport("https://" + to + "/transport").closed.catch(() => {}),
  async () => {
    const connection = new RTCPeerConnection({ iceServers: [{ urls: ["stun:" + to, "turn:" + to + "?transport=tcp"], username: "u", credential: "c" }] });
    connection.createDataChannel("x");
    await connection.setLocalDescription();
  },
];
for (const one of tries) try { Promise.resolve(one()).catch(() => {}); } catch {}
</script>`;

export async function openWaysOut(): Promise<WaysOut> {
  const allowed = await listen();
  const denied = await listen();
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? "", "http://page");
    const to = searchParams.get("to") ?? "";
    if (pathname === "/redirect") response.writeHead(302, { location: `http://${to}/redirect` });
    else if (pathname === "/service.js")
      response
        .writeHead(200, { "content-type": "text/javascript" })
        .write(`oninstall = (event) => event.waitUntil(fetch("http://${to}/service", { mode: "no-cors" }));`);
    else {
      response.setHeader("content-type", "text/html");
      if (pathname === "/report")
        response.setHeader("content-security-policy", `img-src 'none'; report-uri http://${to}/report`);
      response.write(pathname === "/report" ? "<img src=/none>" : page(to));
    }
    response.end();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    // A server that listens on a port has an address of that form.
    url: `http://localhost:${(server.address() as AddressInfo).port}`,
    allowed,
    denied,
    async [Symbol.asyncDispose]() {
      for (const { close } of [allowed, denied]) close();
      server.closeAllConnections();
      server.close();
    },
  };
}

async function listen(): Promise<Reached & { close(): void }> {
  const ways = new Set<string>();
  let contacts = 0;
  const server = createServer((request, response) => {
    ways.add(request.url?.split("/")[1] ?? "");
    response.writeHead(204).end();
  });
  server.on("connection", () => contacts++);
  server.on("upgrade", (request, socket) => {
    ways.add(request.url?.split("/")[1] ?? "");
    socket.destroy();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  // A server that listens on a port has an address of that form.
  const { port } = server.address() as AddressInfo;
  const packets = createSocket("udp4").on("message", () => contacts++);
  packets.bind(port, "127.0.0.1");
  await once(packets, "listening");
  return {
    host: `127.0.0.1:${port}`,
    ways,
    contacts: () => contacts,
    close() {
      packets.close();
      server.closeAllConnections();
      server.close();
    },
  };
}
