import { createLanguageServers, type LanguageServers, type Watcher, type Workspace } from "@octant/host";
import type { EffectiveSettings } from "@octant/runtime";
import { createSearchEngine, type SearchEngine } from "@octant/search";
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
  { language_servers }: EffectiveSettings,
  env: NodeJS.ProcessEnv,
  log: (line: string) => void,
): CodeParts {
  const engine = createSearchEngine({
    files: createSourceFiles(workspace, watcher),
    folder: workspace.state.folder("search"),
    log,
  });
  const servers = createLanguageServers({ ...workspace, watcher, env, configured: language_servers, log });
  return {
    engine,
    servers,
    async close() {
      await Promise.all([engine.close(), servers.close()]);
    },
  };
}
