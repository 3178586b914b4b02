import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createTokenStore } from "@octant/http";
import { serveHttp } from "@octant/mcp";
import { createFixture } from "./fixture-options.ts";
import { createTokenFront } from "./token-front.ts";

export interface FixtureServer {
  readonly url: string;
  readonly log: readonly string[];
  close(): Promise<void>;
}

/** The server that the suite expects, on Octant's own HTTP edge. */
export async function startFixtureServer(): Promise<FixtureServer> {
  const log: string[] = [];
  const folder = mkdtempSync(join(tmpdir(), "octant-conformance-tokens-"));
  const tokens = createTokenStore({ folder });
  const { token } = tokens.create({ scopes: ["admin"] });
  const fixture = createFixture((line) => log.push(line));
  const server = await serveHttp({ ...fixture.options, tokens });
  const front = await createTokenFront(new URL(server.url), token);
  return {
    url: front.url,
    log,
    async close() {
      await front.close();
      await server.close();
      await fixture.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
