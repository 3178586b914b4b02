import { expect, test } from "vitest";
import { toResultFor } from "./answer.ts";
import { createDemo } from "./fixtures/demo.ts";
import { connectInProcess } from "./fixtures/in-process.ts";

const meta = { tool: "proc", action: "exec", trace_id: "t1", paging: { cursor: null, more: false } };

test("pictures stay content blocks, and no structured content hides the text", () => {
  const toResult = toResultFor("text", ({ data }) => `read: ${JSON.stringify(data)}`);
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
