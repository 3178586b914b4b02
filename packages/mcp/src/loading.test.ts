import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";

const loadedBy = (code: string) => {
  const script = `
    import { registerHooks } from "node:module";
    const seen = new Set();
    registerHooks({ resolve(specifier, context, next) { seen.add(specifier); return next(specifier, context); } });
    ${code}
    console.log(JSON.stringify([...seen].filter((name) => name.startsWith("@modelcontextprotocol/"))));`;
  const output = execFileSync(process.execPath, ["--input-type=module", "--eval", script], {
    cwd: import.meta.dirname,
    encoding: "utf8",
  });
  return JSON.parse(output.trim().split("\n").at(-1) ?? "");
};

const converse = (...messages: object[]) => `
  const { serveStdio } = await import("./index.ts");
  const { createDemo } = await import("../testing/demo.ts");
  const { createLineClient } = await import("../testing/lines.ts");
  const client = createLineClient();
  const server = serveStdio({ ...createDemo().options, ...client });
  for (const message of ${JSON.stringify(messages)}) {
    client.send(message);
    if (message.id !== undefined) await client.next();
  }
  await server.close();`;
const request = (id: number, method: string, params?: object) => ({ jsonrpc: "2.0", id, method, params });

test("importing the package loads nothing of the official SDK", () => {
  expect(loadedBy('await import("./index.ts");')).toEqual([]);
});

test("a conversation needs nothing of the official SDK, in either era, even with unknown methods", () => {
  const clientInfo = { name: "test", version: "1" };
  const _meta = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
  };
  const failing = { name: "demo", arguments: { action: "fail" } };
  const legacy = converse(
    request(1, "initialize", { protocolVersion: "2025-11-25", capabilities: {}, clientInfo }),
    { jsonrpc: "2.0", method: "notifications/initialized" },
    request(2, "tools/call", failing),
    request(3, "no/such/method"),
  );
  const modern = converse(
    request(1, "server/discover", { _meta }),
    request(2, "tools/call", { ...failing, _meta }),
    request(3, "no/such/method", { _meta }),
  );
  expect(loadedBy(legacy)).toEqual([]);
  expect(loadedBy(modern)).toEqual([]);
});
