import { McpServer } from "@modelcontextprotocol/server";
import type { Service } from "../service.ts";

/**
 * The SDK's server, for which our listing is its own. Before a call over HTTP it looks up which of the arguments have
 * to be in the headers, too, and refuses those calls where they differ.
 */
export class ListedServer extends McpServer {
  readonly #listing: Service["listing"];

  constructor(listing: Service["listing"], ...given: ConstructorParameters<typeof McpServer>) {
    super(...given);
    this.#listing = listing;
  }

  override toolInputSchemaJson(name: string): Record<string, unknown> | undefined {
    return this.#listing().offer(name)?.listed.inputSchema;
  }
}
