// `npm run package -- --owner NAME [--out FOLDER]`: builds everything and puts the artifacts into a folder.
//   npm/<package>       the published files of each package
//   npm/<package>.tgz   the same as a tarball, ready for `npm publish`
//   server.json     for the MCP registry, ready for `mcp-publisher publish`
//   octant-….mcpb   the bundle for Claude Desktop and similar clients, for the current platform
// NAME is the GitHub account under which the registry lists the server. Nothing is uploaded.
import { spawnSync } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { packBundle } from "./package/bundle.ts";
import { packPackages } from "./package/pack.ts";
import { layOutPackages } from "./package/packages.ts";
import { registryName, toServerJson } from "./package/server-json.ts";

const REPOSITORY = join(import.meta.dirname, "..");
const HELP = `npm run package -- --owner NAME [--out FOLDER]
Builds every package as it is published, the listing for the MCP registry and the bundle for Claude Desktop.
NAME is the GitHub account that publishes; FOLDER is dist/release by default. Nothing is uploaded.`;

function main(args: string[]): number {
  const { values } = parseArgs({
    args,
    options: { owner: { type: "string" }, out: { type: "string" }, help: { type: "boolean" } },
  });
  const { owner, out = join(REPOSITORY, "dist/release") } = values;
  if (values.help) {
    console.log(HELP);
    return 0;
  }
  if (!owner || !/^[A-Za-z0-9-]+$/.test(owner)) {
    console.error("npm run package needs the GitHub account that publishes: npm run package -- --owner NAME");
    return 2;
  }
  const build = spawnSync(process.execPath, [join(import.meta.dirname, "build.ts")], { stdio: "inherit" });
  if (build.status !== 0) return 1;
  rmSync(join(out, "npm"), { recursive: true, force: true });
  mkdirSync(out, { recursive: true });
  const manifests = layOutPackages(REPOSITORY, join(out, "npm"), owner);
  packPackages(REPOSITORY, join(out, "npm"));
  const cli = manifests.find((manifest) => manifest.name === "@octant/cli");
  if (!cli) throw new Error("there is no package @octant/cli");
  writeFileSync(
    join(out, "server.json"),
    `${JSON.stringify(toServerJson(registryName(owner), cli), null, 2)}\n`,
  );
  const platform = { os: process.platform, arch: process.arch };
  const bundle = packBundle(join(out, "npm/cli"), join(REPOSITORY, "node_modules"), platform);
  const file = join(out, `octant-${cli.version}-${platform.os}-${platform.arch}.mcpb`);
  writeFileSync(file, bundle);
  console.log(`${manifests.length} packages, server.json and ${file} (${bundle.length} bytes)`);
  return 0;
}

process.exitCode = main(process.argv.slice(2));
