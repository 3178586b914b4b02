import { readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { ToolError } from "@octant/core";
import { findOnPath, makeFolders, passedEnvironment, startLaunched } from "@octant/host";
import { findPack, installedPacks } from "./choose-packs.ts";

const MAX_STDERR_CHARS = 2_000;

/**
 * Installs an npm package, or a .tgz of one, beside those of other packs; returns its name. Install scripts do not run:
 * they would be code that nobody has accepted.
 */
export async function installPack(spec: string, env: NodeJS.ProcessEnv, cwd: string): Promise<string> {
  const isFile = spec.endsWith(".tgz");
  const [name = spec] = /^(@[^/@]+\/)?[^/@]+/.exec(spec) ?? [];
  if (!isFile && name === spec && isInstalled(name, env)) return name;
  const folder = installedPacks(env);
  makeFolders(folder, 0o700);
  await runNpm(["install", "--prefix", folder, ...QUIETLY, spec], env, cwd);
  if (!isFile) return name;
  const { dependencies = {} } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const found = Object.entries<string>(dependencies).find(([, from]) => basename(from) === basename(spec));
  return found?.[0] ?? spec;
}

/** Octant itself provides the peers. */
const QUIETLY = ["--ignore-scripts", "--legacy-peer-deps", "--no-audit", "--no-fund"];

function isInstalled(name: string, env: NodeJS.ProcessEnv): boolean {
  try {
    findPack(name, { env });
    return true;
  } catch {
    return false;
  }
}

async function runNpm(args: readonly string[], env: NodeJS.ProcessEnv, cwd: string): Promise<void> {
  const npm = findOnPath("npm", env["PATH"]);
  if (npm === undefined)
    throw new ToolError("EXEC_FAILED", "npm is not on the PATH; name a folder instead", { program: "npm" });
  const child = startLaunched(npm, args, { cwd, env: passedEnvironment(env), stdio: "pipe" });
  let stderr = "";
  child.stdout.resume();
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    stderr = (stderr + text).slice(-MAX_STDERR_CHARS);
  });
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", resolve);
  });
  if (code === 0) return;
  throw new ToolError("EXEC_FAILED", `npm ${args[0]} failed: ${stderr.trim()}`, { program: npm });
}
