import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { Config, TierName } from "../../src/config/config.ts";
import { loadConfig } from "../../src/config/load.ts";

type FileTier = Exclude<TierName, "environment" | "mcp" | "claude">;

/** A temporary project folder and home, removed at the end. */
export interface TestProject extends Disposable {
  readonly root: string;
  readonly env: Record<string, string>;
  readonly files: Readonly<Record<FileTier, string>>;
  write(tier: FileTier, text: string): void;
  load(variables?: Record<string, string>): Config;
}

export function createProject(): TestProject {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "octant-config-")));
  const root = join(folder, "project");
  const env = { HOME: join(folder, "home") };
  const files = {
    user: join(env.HOME, ".config/hanzo/settings.json"),
    project: join(root, ".hanzo/settings.json"),
    local: join(root, ".hanzo/settings.local.json"),
  };
  mkdirSync(root);
  return {
    root,
    env,
    files,
    write(tier, text) {
      mkdirSync(dirname(files[tier]), { recursive: true });
      writeFileSync(files[tier], text, { mode: 0o600 });
    },
    load: (variables = {}) => loadConfig({ roots: [root], env: { ...env, ...variables } }),
    [Symbol.dispose]() {
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
