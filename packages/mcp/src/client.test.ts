import { fileURLToPath } from "node:url";
import { Client, type ClientOptions } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { describe, expect, onTestFinished, test } from "vitest";
import { createDemo } from "../testing/demo.ts";
import { connectInProcess } from "../testing/in-process.ts";

const serverFile = fileURLToPath(new URL("../testing/server.ts", import.meta.url));

/** A client of a server in a process of its own. */
async function start(options: ClientOptions): Promise<Client> {
  const client = new Client({ name: "test", version: "1" }, options);
  onTestFinished(() => client.close());
  await client.connect(new StdioClientTransport({ command: process.execPath, args: [serverFile] }));
  return client;
}

async function connect(options: ClientOptions): Promise<Client> {
  const { client, close } = await connectInProcess(createDemo().options, options);
  onTestFinished(close);
  return client;
}
const demo = (args: Record<string, unknown>) => ({ name: "demo", arguments: args });

describe.each([
  { era: "legacy", version: "2025-11-25", versionNegotiation: { mode: "legacy" } },
  { era: "modern", version: "2026-07-28", versionNegotiation: { mode: "auto" } },
] as const)("the official client in the $era era", ({ era, version, versionNegotiation }) => {
  test("negotiates the revision, lists the tools and calls them", async () => {
    const client = await start({ versionNegotiation });
    expect(client.getProtocolEra()).toBe(era);
    expect(client.getNegotiatedProtocolVersion()).toBe(version);
    expect(client.getServerVersion()).toEqual({ name: "octant", version: "0.1.0" });
    expect(client.getInstructions()).toBe("Call demo first.");
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(["demo"]);
    const result = await client.callTool(demo({ action: "echo", text: "é𝄞" }));
    expect(result).toMatchObject({
      isError: false,
      structuredContent: { ok: true, data: { text: "é𝄞" }, error: null },
    });
    expect(result.content).toEqual([{ type: "text", text: "é𝄞" }]);
  });

  test("receives failures as error results, and an unknown tool as a protocol error", async () => {
    const client = await connect({ versionNegotiation });
    expect(await client.callTool(demo({ action: "fail" }))).toMatchObject({
      isError: true,
      structuredContent: { ok: false, error: { code: "NOT_FOUND", details: { uri: "file:///x" } } },
    });
    await expect(client.callTool({ name: "absent" })).rejects.toMatchObject({ code: -32602 });
  });

  test("cancels a call, and the work ends", async () => {
    const client = await connect({ versionNegotiation });
    const controller = new AbortController();
    const onprogress = () => controller.abort("enough");
    const options = { signal: controller.signal, onprogress };
    await expect(client.callTool(demo({ action: "wait" }), options)).rejects.toThrow("enough");
    const after = await client.callTool(demo({ action: "go" }));
    expect(after.structuredContent).toMatchObject({ data: { cancelled: 1 } });
  });

  test("receives progress while the call runs", async () => {
    const client = await connect({ versionNegotiation });
    const { promise: half, resolve } = Promise.withResolvers<unknown>();
    const waiting = client.callTool(demo({ action: "wait" }), { onprogress: resolve });
    expect(await half).toEqual({ progress: 1, total: 2, message: "half" });
    await client.callTool(demo({ action: "go" }));
    expect((await waiting).structuredContent).toMatchObject({ data: { gone: true } });
  });

  test("is notified when the list of tools changes", async () => {
    const { promise: changed, resolve } = Promise.withResolvers<readonly { name: string }[] | null>();
    const onChanged = (_error: unknown, tools: readonly { name: string }[] | null) => resolve(tools);
    const client = await connect({ versionNegotiation, listChanged: { tools: { onChanged } } });
    await client.callTool(demo({ action: "grow" }));
    expect((await changed)?.map(({ name }) => name)).toEqual(["demo", "extra"]);
  });
});
