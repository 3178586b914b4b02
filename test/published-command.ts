import { cpSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { bundleCommand } from "../scripts/build/bundle-command.ts";
import { copyGrammars } from "../scripts/build/copy-grammars.ts";
import { loadManifest, toPublished } from "../scripts/package/packages.ts";
import { registryName } from "../scripts/package/server-json.ts";

const REPOSITORY = join(import.meta.dirname, "..");
const COMMAND = join(REPOSITORY, "packages/cli");

/** Installs the command as it would be published today, whether or not anything was built, and returns its launcher. */
export async function installCommand(folder: string): Promise<string> {
  const modules = join(folder, "node_modules");
  const to = join(modules, "@octant/cli");
  const manifest = toPublished(loadManifest(COMMAND), loadManifest(REPOSITORY), registryName("someone"));
  cpSync(join(COMMAND, "bin"), join(to, "bin"), { recursive: true });
  writeFileSync(join(to, "package.json"), JSON.stringify(manifest));
  await bundleCommand(join(to, "dist"));
  copyGrammars(join(to, "dist/grammars"));
  // Our own are in the bundle.
  const foreign = Object.keys(manifest.dependencies ?? {}).filter((name) => !name.startsWith("@octant/"));
  for (const name of foreign) {
    mkdirSync(dirname(join(modules, name)), { recursive: true });
    symlinkSync(join(REPOSITORY, "node_modules", name), join(modules, name));
  }
  return join(to, "bin/octant.js");
}
