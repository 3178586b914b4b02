import { availableParallelism } from "node:os";
import { createScreen } from "@octant/desktop";
import {
  createBrowsers,
  createLanguageServers,
  createNetwork,
  createWatcher,
  type Denials,
  type Denied,
  LOCAL_POLICY,
  type NetworkPolicy,
  type Path,
  type Sandbox,
  type Watcher,
  type Workspace,
} from "@octant/host";
import type { EffectiveSettings } from "@octant/runtime";
import {
  createHttpEmbedder,
  createOnnxEmbedder,
  type Embedder,
  ParserPool,
  SearchEngine,
  type SourceFiles,
} from "@octant/search";
import { createSourceFiles } from "@octant/tools";

/** The denials of rules for actions of a tool; `reading` leaves out those that write. */
export type DeniedTo = (tool: string, reading?: "reading") => Denied | undefined;

/** The parts of the machine that tools use besides the workspace. */
export function createMachineParts(
  workspace: Workspace,
  settings: EffectiveSettings,
  env: NodeJS.ProcessEnv,
  log: (line: string) => void,
  deniedTo: DeniedTo,
) {
  const { denials } = workspace;
  const network = createNetwork({
    policy: toNetworkPolicy(settings),
    denies: denials.hostDenied,
    env,
    warn: log,
  });
  const watcher = createWatcher({ ...workspace, ignore: [workspace.state.base], warn: log });
  const code = createCodeParts(workspace, watcher, settings, env, log, deniedTo);
  const { browser, headless, max_download_bytes: maxDownloadBytes, screen: isOn } = settings.ui;
  const browsers = createBrowsers({
    workspace,
    network,
    denied: () => deniedTo("ui"),
    env,
    settings: { headless, maxDownloadBytes, ...(browser !== null && { browser }) },
  });
  const screen = createScreen({ env, isOn });
  return {
    network,
    watcher,
    code,
    browsers,
    screen,
    async close() {
      await browsers.closeAll();
      await Promise.all([network.close(), code.close()]);
      await watcher.close();
    },
  };
}

/** The network rules for commands apply to our own tools too. */
export function toNetworkPolicy({ net, sandbox }: EffectiveSettings): NetworkPolicy {
  const policy = { ...LOCAL_POLICY, ...net };
  const { network } = sandbox;
  if (sandbox.mode === "off" || network === "on") return policy;
  if (network === "off") return { ...policy, only: [] };
  return { ...policy, only: network === "loopback" ? ["localhost", "127.0.0.0/8", "[::1]"] : network };
}

/** More would take processor time that the user may need; one core is left alone. Another one is for questions alone. */
const MAX_INDEX_PARSERS = 2;

/** The parts that understand the project's code. Each starts on first use. */
function createCodeParts(
  workspace: Workspace,
  watcher: Watcher,
  { language_servers, search }: EffectiveSettings,
  env: NodeJS.ProcessEnv,
  log: (line: string) => void,
  deniedTo: DeniedTo,
) {
  const { denials, sandbox } = workspace;
  const embedder = search.embedder ? createEmbedder(search.embedder) : undefined;
  const indexing = Math.max(1, Math.min(MAX_INDEX_PARSERS, availableParallelism() - 1));
  const parsers = new ParserPool(1 + indexing);
  // A file that some calls may search is indexed, and each call filters its own answer.
  const toDenied = () => {
    const rules = [deniedTo("search", "reading"), deniedTo("code", "reading")];
    return (path: Path) => rules.every((denied) => denied?.file(path) !== undefined);
  };
  const engine = new SearchEngine({
    files: forAllCalls(createSourceFiles(workspace, watcher, toDenied), denials),
    folder: workspace.state.folder("search"),
    embedder,
    vectorStore: search.vector_store,
    parsers,
    log,
  });
  // A server answers many calls, so it must not see files that are denied to any of them.
  const masked: Sandbox = {
    ...sandbox,
    wrap: (command) => denials.during(deniedTo("code", "reading"), () => sandbox.wrap(command)),
  };
  const servers = createLanguageServers({
    ...workspace,
    sandbox: masked,
    watcher,
    env,
    configured: language_servers,
    log,
  });
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

/** The call that happens to start the indexing must not decide which files are indexed. */
const forAllCalls = (files: SourceFiles, { without }: Denials): SourceFiles => ({
  ...files,
  read: (name) => without(() => files.read(name)),
});

function createEmbedder(settings: NonNullable<EffectiveSettings["search"]["embedder"]>): Embedder {
  if (settings.kind === "onnx") return createOnnxEmbedder(settings);
  const { kind: api, ...endpoint } = settings;
  return createHttpEmbedder({
    ...endpoint,
    api,
    // The person configured this address; a redirect would send the content elsewhere.
    fetch: (url, init) => fetch(url, { ...init, redirect: "error" }),
  });
}
