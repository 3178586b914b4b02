import { type Backend, defineTool } from "@octant/core";
import { download } from "./download.ts";
import { open } from "./open.ts";
import type { NetOptions } from "./options.ts";
import { request } from "./request.ts";
import { search } from "./search.ts";
import { chooseSearch } from "./search-providers.ts";

export type { NetOptions } from "./options.ts";

/** HTTP requests that cannot reach private services or leak secrets. */
export const net = (options: NetOptions) =>
  defineTool({
    name: "net",
    summary: "The web: send requests, search, download files, open pages.",
    actions: {
      request: request(options),
      search: search(options),
      download: download(options),
      open: open(options),
    },
    backends: () => [
      { name: "http", available: true, version: process.versions.node },
      searchBackend(options),
    ],
  });

function searchBackend({ search: settings = {}, env }: NetOptions): Backend {
  const chosen = chooseSearch(settings, env);
  if (typeof chosen === "string") return { name: "search", available: false, detail: chosen };
  return { name: "search", available: true, detail: chosen.name };
}
