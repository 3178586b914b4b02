import { join } from "node:path";
import { createOctant, LOCAL_CALLER } from "@octant/app";
import { createLanguageServers, createWatcher } from "@octant/host";
import { ParserPool, SearchEngine } from "@octant/search";
import { code, createSourceFiles } from "@octant/tools";
import { positionOf } from "./code-project.ts";

/** Renames in the given project, or only opens it; to be killed meanwhile. */
const [root = ".", what] = process.argv.slice(2);
const octant = createOctant({ roots: [root] });
const { workspace } = octant;
if (what === "look") await workspace.edits.recover();
else {
  const { confinement, sandbox, state } = workspace;
  const watcher = createWatcher({ confinement });
  const servers = createLanguageServers({ confinement, sandbox, state, watcher, env: process.env });
  // With the servers of this test.
  octant.removeTool("code");
  const parsers = new ParserPool(1);
  const index = new SearchEngine({
    files: createSourceFiles(workspace, watcher),
    folder: workspace.state.folder("search"),
    parsers,
    log: () => {},
  });
  octant.addTool(code({ workspace, servers, index, parsers }));
  const uri = join(root, "src/user-7.ts");
  const input = { uri, position: positionOf(uri, "fetchUser"), new_name: "loadUser" };
  await octant.dispatch({ tool: "code", action: "rename", input }, { caller: LOCAL_CALLER });
  await Promise.all([servers.close(), index.close(), parsers.close()]);
  await watcher.close();
}
await octant.close();
