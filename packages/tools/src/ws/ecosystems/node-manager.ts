import type { PackageFolder } from "../detect/ecosystem.ts";
import type { Data } from "../formats/data.ts";

export interface NodeManager {
  readonly name: string;
  /** Files that only this manager writes. */
  readonly files: readonly string[];
  /** Runs a script of package.json. */
  readonly run: readonly string[];
  /** Runs a program of a dependency. */
  readonly exec: readonly string[];
}

const NPM: NodeManager = {
  name: "npm",
  files: ["package-lock.json", "npm-shrinkwrap.json"],
  run: ["npm", "run"],
  exec: ["npx"],
};

const MANAGERS: readonly NodeManager[] = [
  {
    name: "pnpm",
    files: ["pnpm-lock.yaml", "pnpm-workspace.yaml"],
    run: ["pnpm", "run"],
    exec: ["pnpm", "exec"],
  },
  { name: "yarn", files: ["yarn.lock", ".yarnrc.yml"], run: ["yarn", "run"], exec: ["yarn", "run"] },
  { name: "bun", files: ["bun.lock", "bun.lockb"], run: ["bun", "run"], exec: ["bunx"] },
  NPM,
];

/** The package manager: from the `packageManager` field, otherwise the nearest lock file, otherwise npm. */
export function nodeManagerOf(folder: PackageFolder, manifest: Data): { manager: NodeManager; from: string } {
  const [named] = manifest.get("packageManager").text?.split("@") ?? [];
  const declared = MANAGERS.find(({ name }) => name === named);
  if (declared) return { manager: declared, from: "package.json" };
  const lock = folder.nearest(MANAGERS.flatMap(({ files }) => files));
  const manager = MANAGERS.find(({ files }) => lock !== undefined && files.includes(lock.name));
  return lock && manager ? { manager, from: lock.path } : { manager: NPM, from: "package.json" };
}
