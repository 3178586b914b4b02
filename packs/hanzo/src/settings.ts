import { z } from "zod";

/** `packs.hanzo.settings` of the user's settings. */
export const settings = z.strictObject({
  base_url: z
    .url({ protocol: /^https?$/ })
    .refine(
      (text) => !/^[^/]*\/\/[^/]*@/.test(text),
      "a password does not belong here; octant login hanzo signs in",
    )
    .default("https://api.hanzo.ai/v1")
    .describe("The API; paths of operations follow it"),
  openapi: z
    .string()
    .startsWith("/")
    .default("/openapi.json")
    .describe("Where the server describes its operations, below base_url"),
});
export type Settings = typeof settings;
