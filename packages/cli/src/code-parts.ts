import { createLanguageServers, type LanguageServers, type Watcher, type Workspace } from "@octant/host";
import type { EffectiveSettings } from "@octant/runtime";
import {
  createHttpEmbedder,
  createOnnxEmbedder,
  createSearchEngine,
  type Embedder,
  type SearchEngine,
} from "@octant/search";
import { createSourceFiles } from "@octant/tools";

/** What knows the code of the project. Nothing of it is started before it is asked. */
export interface CodeParts {
  readonly engine: SearchEngine;
  readonly servers: LanguageServers;
  close(): Promise<void>;
}

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
    ...{ embedder, vectorStore: search.vector_store, log },
  });
  const servers = createLanguageServers({ ...workspace, watcher, env, configured: language_servers, log });
  return {
    engine,
    servers,
    async close() {
      await Promise.all([engine.close(), servers.close()]);
      await embedder?.close();
    },
  };
}

function createEmbedder(settings: NonNullable<EffectiveSettings["search"]["embedder"]>): Embedder {
  if (settings.kind === "onnx") return createOnnxEmbedder(settings);
  const { kind: api, ...endpoint } = settings;
  return createHttpEmbedder({
    ...{ ...endpoint, api },
    // The person has named this address, and what is sent there is to go nowhere else.
    fetch: (url, init) => fetch(url, { ...init, redirect: "error" }),
  });
}
