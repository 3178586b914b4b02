import type { Manifest } from "./packages.ts";

/** The registry's limit. */
export const MAX_DESCRIPTION_CHARS = 100;

export const DESCRIPTION = "A small, typed, safe set of tools over a software project, for any AI agent";

/** The server's name in the registry; the npm package must have the same `mcpName`. */
export const registryName = (owner: string): string => `io.github.${owner}/octant`;

/** The entry of the MCP registry. A client turns it into `npx @octant/cli serve --root DIR`. */
export const toServerJson = (name: string, { name: identifier, version }: Manifest) => ({
  $schema: "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json",
  name,
  title: "Octant",
  description: DESCRIPTION,
  version,
  packages: [
    {
      registryType: "npm",
      identifier,
      version,
      runtimeHint: "npx",
      transport: { type: "stdio" },
      packageArguments: [
        { type: "positional", value: "serve" },
        { type: "named", name: "--answers", value: "text" },
        {
          type: "named",
          name: "--root",
          description: "A folder to work in; the one that the client starts the server in by default",
          format: "filepath",
          isRepeated: true,
        },
      ],
    },
  ],
});
