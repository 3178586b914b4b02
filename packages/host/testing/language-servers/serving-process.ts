import { join } from "node:path";
import { createLanguageServers } from "../../src/language-servers/language-servers.ts";
import { DEFAULT_SANDBOX, type SandboxMode } from "../../src/sandbox/settings.ts";
import { createWatcher } from "../../src/watching/watcher.ts";
import { createWorkspace } from "../../src/workspace.ts";

/** Starts a language server, prints its pid, and waits to be killed. */
const [root = ".", mode = "workspace"] = process.argv.slice(2);
const { env } = process;
// The test gives one of the modes.
const sandbox = { ...DEFAULT_SANDBOX, mode: mode as SandboxMode };
const workspace = createWorkspace({ roots: [root], env, sandbox, warn: () => {} });
const watcher = createWatcher(workspace);
const servers = createLanguageServers({ ...workspace, watcher, env });
const found = await servers.find(join(root, "b.ts"));
if (!("server" in found)) throw new Error(found.how);
await found.server.use(async ({ pid }) => void process.stdout.write(`${pid}`), new AbortController().signal);
