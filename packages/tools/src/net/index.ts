import { defineTool } from "@octant/core";
import { download } from "./download.ts";
import { open } from "./open.ts";
import type { NetOptions } from "./options.ts";
import { request } from "./request.ts";

export type { NetOptions } from "./options.ts";

/** HTTP requests that cannot reach private services or leak secrets. */
export const net = (options: NetOptions) =>
  defineTool({
    name: "net",
    summary: "HTTP: send requests, download files, open pages.",
    actions: { request: request(options), download: download(options), open: open(options) },
    backends: () => [{ name: "http", available: true, version: process.versions.node }],
  });
