import { action, createListing, createRegistry, defineTool } from "@octant/core";
import { expect, test } from "vitest";
import { z } from "zod";
import { toLegacyTools } from "./tools.ts";

const toolOf = (name: string, timing: "sync" | "async_long", listing: "full" | "on_demand") =>
  defineTool({
    name,
    summary: "Works.",
    listing,
    actions: {
      go: action({
        summary: "Goes.",
        access: "read",
        intent: "inspect",
        timing,
        input: z.strictObject({}),
        output: z.object({}),
        examples: [{ title: "One", input: {} }],
        run: () => ({}),
      }),
    },
  });

test("clients of the handshake revisions learn which tools may become tasks", () => {
  const registry = createRegistry([
    toolOf("slow", "async_long", "full"),
    toolOf("fast", "sync", "full"),
    toolOf("minimal", "async_long", "on_demand"),
  ]);
  const listing = createListing({ registry });
  expect(toLegacyTools(listing)).toMatchObject([
    { name: "slow", execution: { taskSupport: "optional" } },
    { name: "fast" },
    { name: "minimal" },
  ]);
  expect(JSON.stringify(toLegacyTools(listing).slice(1))).not.toContain("taskSupport");
});
