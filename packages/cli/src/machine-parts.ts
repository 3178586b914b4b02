import {
  createBrowsers,
  createNetwork,
  createScreen,
  createWatcher,
  LOCAL_POLICY,
  type NetworkPolicy,
  type Workspace,
} from "@octant/host";
import type { EffectiveSettings } from "@octant/runtime";
import { createCodeParts } from "./code-parts.ts";

/** The parts of the machine that tools use besides the workspace. */
export function createMachineParts(
  workspace: Workspace,
  settings: EffectiveSettings,
  env: NodeJS.ProcessEnv,
  log: (line: string) => void,
) {
  const network = createNetwork({ policy: toNetworkPolicy(settings), env, warn: log });
  const watcher = createWatcher({ ...workspace, ignore: [workspace.state.base], warn: log });
  const code = createCodeParts(workspace, watcher, settings, env, log);
  const { browser, headless, max_download_bytes: maxDownloadBytes, screen: isOn } = settings.ui;
  const browsers = createBrowsers({
    ...{ workspace, network, env },
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
function toNetworkPolicy({ net, sandbox }: EffectiveSettings): NetworkPolicy {
  const policy = { ...LOCAL_POLICY, ...net };
  const { network } = sandbox;
  if (sandbox.mode === "off" || network === "on") return policy;
  if (network === "off") return { ...policy, only: [] };
  return { ...policy, only: network === "loopback" ? ["localhost", "127.0.0.0/8", "[::1]"] : network };
}
