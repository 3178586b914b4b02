import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { createScriptedProvider } from "@octant/scripted-provider";
import { chromium } from "playwright-core";
import { expect, test } from "vitest";
import { createTestIssuer, startBridge } from "./bridge-client.ts";
import { createFixtureProject } from "./fixture-project.ts";
import { accountAt } from "./scripted-account.ts";
import { lacks } from "./ui/lacks.ts";

const EXAMPLE = join(import.meta.dirname, "../examples/bridge-page");
const TYPES: Readonly<Record<string, string>> = { html: "text/html", js: "text/javascript" };

/** The example as a web server would serve it. */
async function servePage() {
  const server = createServer(({ url = "" }, response) => {
    const [path = ""] = url.slice(1).split("?");
    const name = path === "" ? "index.html" : path;
    const file = join(EXAMPLE, name);
    if (!existsSync(file)) return response.writeHead(404).end();
    response.setHeader("content-type", TYPES[name.split(".").at(-1) ?? ""] ?? "text/plain");
    return response.end(readFileSync(file));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  // It listens on a port.
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const close = () => {
    server.closeAllConnections();
    server.close();
  };
  return { origin, [Symbol.dispose]: close };
}

test.skipIf(lacks("chromium"))(
  "the example page works in Chromium: an answer, an approval, a lost connection, and the next answer",
  async () => {
    await using provider = await createScriptedProvider((request) => {
      if (request.user.includes("again")) return { parts: [{ text: "Here again." }] };
      return request.answers === 0
        ? {
            parts: [
              { text: "I write." },
              { call: "fs", input: { action: "write", uri: "page.txt", content: "hello\n" } },
            ],
          }
        : { parts: [{ text: "Written." }] };
    });
    await using issuer = await createTestIssuer();
    using project = createFixtureProject();
    using page = await servePage();
    const args = ["--allow-origin", page.origin, "--provider", "anthropic", "--model", "some-model"];
    await using bridge = await startBridge(project, issuer, args, {
      ...accountAt(provider),
    });
    const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox"] });
    try {
      const tab = await browser.newPage();
      const query = new URLSearchParams({ url: `${bridge.url}/agent`, cwd: project.root });
      await tab.goto(`${page.origin}/?${query}#token=${await issuer.sign()}`);
      await tab.getByText("connected", { exact: true }).waitFor();
      const say = async (text: string) => {
        await tab.getByLabel("Message").fill(text);
        await tab.getByRole("button", { name: "Send" }).click();
      };
      await say("write it");
      await tab.getByRole("button", { name: "Allow once" }).click();
      await tab.getByText("(end_turn)").waitFor();
      expect(readFileSync(join(project.root, "page.txt"), "utf8")).toBe("hello\n");
      await tab.evaluate("bridge.drop()");
      await say("again");
      await tab.getByText("Here again.").waitFor();
      expect(await tab.getByRole("log").innerText()).toContain("I write.");
    } finally {
      await browser.close();
    }
  },
);
