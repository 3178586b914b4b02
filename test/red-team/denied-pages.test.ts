// A denied file of the workspace does not reach a page, under any of its names and by any way to load it.
import { linkSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { lacks } from "../ui/lacks.ts";
import { openUi, type UiClient } from "../ui/ui-client.ts";

const SECRET = "CANARY-51c0";
const NAMES = [".env", "%2eenv", "link.txt", "twin.txt", "vault/key.txt", "folder/key.txt"];
const LOADS = NAMES.map(
  (name) => `<iframe src="${name}"></iframe><object data="${name}"></object><embed src="${name}">
<script>fetch("${name}").then((r) => r.text()).then((text) => document.body.append(text))</script>`,
);

describe.skipIf(lacks("chromium"))("a denied file", () => {
  let client: UiClient;
  beforeAll(async () => {
    const permissions = [{ tool_pattern: "*", mode: "deny", args: { path: [".env", "vault/**"] } }];
    client = await openUi({ settings: { permissions } });
    const at = (path: string) => join(client.root, path);
    mkdirSync(at("vault"));
    writeFileSync(at("vault/key.txt"), SECRET);
    writeFileSync(at(".env"), SECRET);
    symlinkSync(".env", at("link.txt"));
    symlinkSync("vault", at("folder"));
    linkSync(at(".env"), at("twin.txt"));
    writeFileSync(at("page.html"), `<p>shown</p>${LOADS.join("\n")}`);
  });
  afterAll(async () => {
    await client?.[Symbol.asyncDispose]();
  });

  test.each(NAMES.filter((name) => name !== "%2eenv"))("is not opened as %s", async (name) => {
    for (const url of [
      name,
      `file://${client.root}/${name}`,
      `http://workspace.localhost${client.root}/${name}`,
    ]) {
      const answer = JSON.stringify(await client.raw("ui", { action: "navigate", url }));
      expect(answer, url).toContain("deny *");
      expect(answer, url).not.toContain(SECRET);
    }
  });

  test("is not loaded by a page, nor by a script of ui.evaluate", async () => {
    const opened = await client.ui("navigate", { url: "page.html" });
    expect(JSON.stringify(opened)).toContain("shown");
    const script = `Promise.all(${JSON.stringify(NAMES)}.map((name) => fetch(name).then((r) => r.status)))`;
    const evaluated = await client.ui("evaluate", { script });
    expect(evaluated.result).toEqual(NAMES.map(() => 403));
    const seen = JSON.stringify([opened, evaluated, await client.ui("snapshot")]);
    expect(seen).toContain("is denied");
    expect(seen).not.toContain(SECRET);
  });
});
