import { availableParallelism } from "node:os";
import { createLanguageServers, type LanguageServers, type Watcher, type Workspace } from "@octant/host";
import type { EffectiveSettings } from "@octant/runtime";
import {
  createHttpEmbedder,
  createOnnxEmbedder,
  createSearchEngine,
  type Embedder,
  ParserPool,
  type SearchEngine,
} from "@octant/search";
import { createSourceFiles } from "@octant/tools";

/** The parts that understand the project's code. Each starts on first use. */
export interface CodeParts {
  readonly engine: SearchEngine;
  readonly servers: LanguageServers;
  readonly parsers: ParserPool;
  readonly embedder: Embedder | undefined;
  close(): Promise<void>;
}

/** Separate from those of the index, so that a query does not wait behind thousands of files. */
const MAX_PARSERS = 2;

export function createCodeParts(
  workspace: Workspace,
  watcher: Watcher,
  { language_servers, search }: EffectiveSettings,
  env: NodeJS.ProcessEnv,
  log: (line: string) => void,
): CodeParts {
  const embedder = search.embedder ? createEmbedder(search.embedder) : undefined;
  const engine = createSearchEngine({
    files: createSourceFiles(workspace, watcher),
    folder: workspace.state.folder("search"),
    ...{ embedder, vectorStore: search.vector_store, fusion: search.fusion, log },
  });
  const servers = createLanguageServers({ ...workspace, watcher, env, configured: language_servers, log });
  const parsers = new ParserPool(Math.min(MAX_PARSERS, availableParallelism()));
  return {
    engine,
    servers,
    parsers,
    embedder,
    async close() {
      await Promise.all([engine.close(), servers.close(), parsers.close()]);
      await embedder?.close();
    },
  };
}

function createEmbedder(settings: NonNullable<EffectiveSettings["search"]["embedder"]>): Embedder {
  if (settings.kind === "onnx") return createOnnxEmbedder(settings);
  const { kind: api, ...endpoint } = settings;
  return createHttpEmbedder({
    ...{ ...endpoint, api },
    // The person configured this address; a redirect would send the content elsewhere.
    fetch: (url, init) => fetch(url, { ...init, redirect: "error" }),
  });
}
