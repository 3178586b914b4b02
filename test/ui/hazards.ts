import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface Hazards extends AsyncDisposable {
  readonly url: string;
  /** Answers the requests for /held that are waiting. */
  release(): void;
}

/** Pages that hang, loop, log too much, or are hard to read. */
const PAGES: Readonly<Record<string, string>> = {
  "/busy": `<title>Busy</title><button onclick="for (;;);">Hang</button>`,
  "/plain": `<title>Plain</title><nav><a href=/plain>Here</a></nav><main>Main part</main>`,
  "/empty": `<title>Empty</title>`,
  "/chooser": `<title>Chooser</title><input type=file id=field><div onclick="document.getElementById('hidden').click()" id=open>Choose files</div><input type=file id=hidden style=display:none onchange="document.getElementById('open').textContent = this.files[0].name">`,
  "/refused-frame": `<title>Refused frame</title><iframe src=file:///etc/passwd></iframe><button onclick="document.title = 'Clicked'">Go</button>`,
  "/frame": `<title>Frame</title><iframe srcdoc="<button>Inside</button>"></iframe>`,
  "/order": `<title>Order</title><ul><li><button>One</button><li><button>Two</button><li><button>Three</button></ul><p onclick="const list = document.querySelector('ul'); list.prepend(list.lastElementChild)">Turn</p><details><summary>More</summary>Folded text</details>`,
  "/fields": `<title>Fields</title><label>Day <input type=date value=2026-01-01></label><label>Volume <input type=range max=10></label><textarea>one\ntwo</textarea><select><option>Small<option disabled>Large</select><p id=text contenteditable>A<br>B</p>`,
  "/editor": `<title>Editor</title><iframe srcdoc="<body contenteditable><p>Draft</p>"></iframe>`,
  "/component": `<title>Component</title><my-box>Agree</my-box><script>customElements.define("my-box", class extends HTMLElement { connectedCallback() { this.attachShadow({ mode: "open" }).innerHTML = "<label><input type=checkbox><slot></slot></label>"; } })</script>`,
  "/frames": `<title>Frames</title><button onclick="requestAnimationFrame(() => document.body.append('drawn'))">Draw</button>`,
  "/downloads": `<title>Downloads</title><a href=/late.csv download>Late</a> <a href=/held.csv download><b>Held</b></a> <a href=/plain download onclick="event.preventDefault()">Prevented</a> <iframe srcdoc="<a href=/late.csv?frame download>Framed</a>"></iframe>`,
  "/socket": `<title>Socket</title><p id=state>waiting</p><script>new WebSocket("ws://169.254.169.254/").onerror = () => { state.textContent = "refused"; };</script>`,
  "/noise": `<title>Noise</title><img src=/missing.png><button onclick="for (let n = 0; n < 1200; n++) console.error('error ' + n)">Log</button>`,
};

/** More than the answer to an action waits for other effects. */
const LATE_MS = 1_500;
const CSV = { "content-type": "text/csv" };

export async function openHazards(): Promise<Hazards> {
  let turns = 0;
  const held: ServerResponse[] = [];
  const server = createServer((request, response) => {
    const path = request.url?.split("?")[0] ?? "";
    if (path === "/loop") response.writeHead(302, { location: `/loop?${++turns}` }).end();
    else if (path === "/late.csv") setTimeout(() => response.writeHead(200, CSV).end("a,b"), LATE_MS);
    else if (path === "/held.csv") held.push(response);
    else if (PAGES[path] === undefined) response.writeHead(404).end("nothing here");
    else
      response
        .writeHead(200, { "content-type": "text/html; charset=utf-8" })
        .end(`<!doctype html>${PAGES[path]}`);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    // A server that listens on a port has an address of that form.
    url: `http://localhost:${(server.address() as AddressInfo).port}`,
    release() {
      for (const response of held.splice(0)) response.writeHead(200, CSV).end("a,b");
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
    },
  };
}
