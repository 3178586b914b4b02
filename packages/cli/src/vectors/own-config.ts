import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { loadConfig, SettingsError, trustFolder } from "@octant/runtime";

const TIERS = ["user", "project", "local"] as const;
type Tier = (typeof TIERS)[number];

interface ConfigInput {
  readonly environment?: Readonly<Record<string, string>>;
  readonly trusted?: Partial<Record<Tier, true | string>>;
}

/** Loads the settings of a case from real files in a temporary home and project. */
export async function mergeConfig(input: ConfigInput & Partial<Record<Tier, string>>): Promise<object> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "octant-vectors-")));
  try {
    const root = join(folder, "project");
    const home = join(folder, "home");
    mkdirSync(root);
    const files: Record<Tier, string> = {
      user: join(home, ".config/hanzo/settings.json"),
      project: join(root, ".hanzo/settings.json"),
      local: join(root, ".hanzo/settings.local.json"),
    };
    const write = (tier: Tier, text: string) => {
      mkdirSync(dirname(files[tier]), { recursive: true });
      writeFileSync(files[tier], text, { mode: 0o600 });
    };
    const load = (variables = {}) => loadConfig({ roots: [root], env: { HOME: home, ...variables } });
    for (const tier of ["project", "local"] as const) {
      const before = input.trusted?.[tier];
      const text = before === true ? input[tier] : before;
      if (text === undefined) continue;
      write(tier, text);
      const waiting = load().waiting.filter((one) => one.tier === tier);
      await trustFolder(waiting, { env: { HOME: home } });
    }
    for (const tier of TIERS) if (input[tier] !== undefined) write(tier, input[tier]);
    return JSON.parse(
      JSON.stringify(outputOf(() => load(input.environment), files)).replaceAll(root, "$ROOT"),
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function outputOf(load: () => ReturnType<typeof loadConfig>, files: Record<Tier, string>): object {
  try {
    const { settings, permissions, origins, warnings, waiting } = load();
    return {
      settings,
      permissions,
      origins: Object.fromEntries([...origins].map(([key, { tier, line }]) => [key, [tier, line]])),
      warnings,
      waiting: waiting.flatMap(({ tier, parts }) => parts.map(({ key }) => `${tier}: ${key}`)),
    };
  } catch (cause) {
    if (!(cause instanceof SettingsError)) throw cause;
    const { file, line, column, message } = cause;
    return { error: { tier: TIERS.find((tier) => files[tier] === file), line, column, message } };
  }
}
