import { expect, test } from "vitest";
import { createDemo } from "../testing/demo.ts";
import { connectInProcess } from "../testing/in-process.ts";
import { createFormFor, toResultsFor } from "./answer.ts";

const meta = { tool: "proc", action: "exec", trace_id: "t1", paging: { cursor: null, more: false } };

test("pictures stay content blocks, and no structured content hides the text", () => {
  const { text: toResult } = toResultsFor(
    "text",
    ({ data }) => `read: ${JSON.stringify(data)}`,
    (envelope) => envelope,
  );
  const picture = { kind: "image", mime: "image/png", bytes: new Uint8Array([1, 2]) } as const;
  const reply = {
    envelope: { ok: true, data: "see", error: null, meta } as const,
    attachments: [picture],
  };
  expect(toResult(reply)).toEqual({
    content: [
      { type: "text", text: 'read: "see"' },
      { type: "image", data: "AQI=", mimeType: "image/png" },
    ],
    isError: false,
  });
});

test.each(["legacy", "auto"] as const)(
  "the official client takes text answers, of calls that succeed and that fail (%s)",
  async (mode) => {
    const options = { ...createDemo().options, answers: "text" } as const;
    const { client, close } = await connectInProcess(options, { versionNegotiation: { mode } });
    const { tools } = await client.listTools();
    expect(tools[0]).not.toHaveProperty("outputSchema");
    const call = (args: object) => client.callTool({ name: "demo", arguments: { ...args } });
    const echoed = await call({ action: "echo", text: "hello" });
    expect(echoed.content).toEqual([{ type: "text", text: "hello" }]);
    expect(echoed.structuredContent).toBeUndefined();
    expect(await call({ action: "fail" })).toMatchObject({
      isError: true,
      content: [{ text: expect.stringMatching(/^NOT_FOUND: nothing is there/) }],
    });
    await close();
  },
);

test.each([
  "claude-code",
  "claude-ai",
  "codex-mcp-client",
  "gemini-cli-mcp-client-octant",
  "opencode",
  "cursor-vscode",
  "Visual Studio Code - Insiders",
  "Visual-Studio-Code",
  "Zed",
  "windsurf-client",
  "Roo Code",
])("%s is known to show its model text", (name) => {
  expect(createFormFor(undefined)({ name, version: "1" })).toBe("text");
  expect(createFormFor("structured")({ name, version: "1" })).toBe("structured");
});

test.each([undefined, null, {}, { name: 7 }, { name: "inspector" }, { name: "my-zed" }])(
  "a client that says %j of itself gets structured answers",
  (clientInfo) => expect(createFormFor(undefined)(clientInfo)).toBe("structured"),
);

test.each(["legacy", "auto"] as const)(
  "the name of a client decides the form when the server was given none (%s)",
  async (mode) => {
    const answerTo = async (name: string) => {
      const { client, close } = await connectInProcess(
        createDemo().options,
        { versionNegotiation: { mode } },
        name,
      );
      const [tool] = (await client.listTools()).tools;
      const answer = await client.callTool({ name: "demo", arguments: { action: "echo", text: "hello" } });
      await close();
      return { promised: tool?.outputSchema !== undefined, ...answer };
    };
    const shown = await answerTo("claude-code");
    expect(shown).toMatchObject({ promised: false, content: [{ type: "text", text: "hello" }] });
    expect(shown).not.toHaveProperty("structuredContent");
    expect(await answerTo("a program")).toMatchObject({
      promised: true,
      structuredContent: { ok: true },
    });
  },
);
