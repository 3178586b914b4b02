import type { ContentBlock } from "@agentclientprotocol/sdk";
import { expect, test } from "vitest";
import { toBlock, toUserParts } from "./content.ts";

test("text and images of an editor's message reach the agent unchanged, and go back the same", () => {
  const blocks: ContentBlock[] = [
    { type: "text", text: "Look at this." },
    { type: "image", mimeType: "image/png", data: "AAAA" },
  ];
  expect(toUserParts(blocks).map(toBlock)).toEqual(blocks);
});

test("resources become text with their address, or an image", () => {
  const uri = "file:///a.ts";
  expect(
    toUserParts([
      { type: "resource_link", name: "a.ts", uri },
      { type: "resource", resource: { uri, text: "export {}" } },
      { type: "resource", resource: { uri, mimeType: "image/png", blob: "AAAA" } },
    ]),
  ).toEqual([
    { type: "text", text: "\n[a.ts](file:///a.ts)\n" },
    { type: "text", text: "\nContent of file:///a.ts:\nexport {}\n" },
    { type: "image", mime: "image/png", data: "AAAA" },
  ]);
});

test.each<[string, ContentBlock]>([
  ["audio", { type: "audio", mimeType: "audio/wav", data: "AAAA" }],
  ["neither text nor an image", { type: "resource", resource: { uri: "file:///a.zip", blob: "AAAA" } }],
])("content that was not advertised is refused with what to send instead: %s", (_what, block) => {
  expect(() => toUserParts([block])).toThrow(
    expect.objectContaining({ message: expect.stringContaining("send") }),
  );
});
