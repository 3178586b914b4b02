import { ToolError } from "@octant/core";
import type { ServiceOptions } from "../src/service.ts";

/** One of each feature that a server can offer besides tools. */
export function createDemoFeatures(): Partial<ServiceOptions> {
  return {
    title: "Demo",
    description: "For tests.",
    websiteUrl: "https://example.com/",
    icons: [{ src: "data:image/svg+xml,", mimeType: "image/svg+xml", sizes: ["any"] }],
    logging: true,
    resources: {
      async list(cursor) {
        if (cursor === "bad") throw new ToolError("INVALID_CURSOR", "that cursor is of another list", {});
        return cursor === "2"
          ? { resources: [{ uri: "demo:b", name: "b" }] }
          : { resources: [{ uri: "demo:a", name: "a", mimeType: "text/plain", size: 1 }], nextCursor: "2" };
      },
      templates: [{ uriTemplate: "demo:{name}", name: "demo" }],
      async read(uri) {
        if (uri === "demo:locked") throw new ToolError("ACCESS_DENIED", "it is locked", {});
        return uri === "demo:a" ? [{ uri, mimeType: "text/plain", text: "a" }] : undefined;
      },
      subscribe: async (uri) => (uri === "demo:a" ? () => {} : undefined),
    },
    prompts: {
      list: () => [
        { name: "hello", description: "Says hello.", arguments: [{ name: "who", required: true }] },
      ],
      get: async (_name, { who }) => ({
        messages: [{ role: "user", content: { type: "text", text: `Hello, ${who}!` } }],
      }),
    },
    completions: async ({ value }) => Array.from({ length: 101 }, (_, index) => `${value}${index}`),
  };
}
