import { lstatSync, readdirSync, type Stats } from "node:fs";
import { attempt } from "@octant/core";
import { type Confinement, type PinnedFolder, splitPath } from "../confinement.ts";
import { isWithin, type Path } from "../path.ts";
import { ownFiles } from "../sandbox/own-files.ts";
import { entryError } from "../system-error.ts";
import type { Change } from "./file-step.ts";

interface Rule {
  /** Entry names, as normalised by `comparable`. */
  readonly names: readonly string[];
  readonly why: string;
  /** Whether a folder that holds such an entry anywhere below may not be removed as a whole either. */
  readonly keepsTree?: true;
}

/**
 * Entries that cannot be written through Octant: these names at any depth, and everything below. Each could turn a
 * file into a command or a permission without the person's consent.
 */
export const PROTECTED: readonly Rule[] = [
  {
    names: [".git"],
    why: "git runs the hooks and programs named there, and history would be lost; use git itself",
    // As `git clean` does: a repository inside the folder may hold work that was never pushed.
    keepsTree: true,
  },
  {
    names: [".gitconfig", ".gitmodules"],
    why: "git runs the programs and fetches the addresses named there",
  },
  { names: [".hanzo"], why: "permissions, hooks and servers of the agent are set there", keepsTree: true },
  {
    names: [
      ".agents",
      ".claude",
      ".claude.json",
      ".cursor",
      ".codex",
      ".gemini",
      ".windsurf",
      ".opencode",
      ".continue",
      ".roo",
      ".kiro",
      ".amazonq",
      ".aider.conf.yml",
      "opencode.json",
      "opencode.jsonc",
    ],
    why: "an agent takes its permissions, hooks and servers from there",
  },
  { names: [".mcp.json"], why: "agents start the servers named there" },
  { names: [".vscode", ".idea", ".zed"], why: "the editor runs the tasks and programs named there" },
  {
    names: [
      ".bashrc",
      ".bash_profile",
      ".bash_login",
      ".bash_logout",
      ".bash_aliases",
      ".profile",
      ".zshrc",
      ".zshenv",
      ".zprofile",
      ".zlogin",
      ".zlogout",
      ".kshrc",
      ".cshrc",
      ".tcshrc",
      ".login",
      ".logout",
      ".inputrc",
      "config.fish",
    ],
    why: "a shell runs it when it starts",
  },
  { names: [".envrc"], why: "direnv runs it when the folder is entered" },
  { names: [".ripgreprc"], why: "ripgrep takes options from it that start programs" },
];

const RULES = new Map(PROTECTED.flatMap((rule) => rule.names.map((name) => [name, rule] as const)));

/** Refuses a path that is protected, whether or not something is there. Give the real path and the path as it was asked for. */
export function checkWritable(roots: readonly Path[], ...paths: readonly Path[]): void {
  checkOwnFiles(roots, paths);
  for (const path of paths) {
    const rule = ruleFor(roots, path);
    if (!rule) continue;
    const what = `is protected: ${rule.why}. Ask the person to change it by hand.`;
    throw entryError("PROTECTED_PATH", path, what, { rule: rule.names.join(", ") });
  }
}

/** Octant would run code written there outside the sandbox. */
function checkOwnFiles(roots: readonly Path[], paths: readonly Path[]): void {
  const own = ownFiles().filter((file) => roots.some((root) => isWithin(root, file)));
  const path = paths.find((one) => own.some((file) => isWithin(file, one)));
  if (path === undefined) return;
  const what =
    "is protected: the running Octant is installed there. Use an Octant that is installed elsewhere, such as by npx.";
  throw entryError("PROTECTED_PATH", path, what, { rule: "Octant's own files" });
}

export const isProtected = (roots: readonly Path[], path: Path): boolean =>
  ruleFor(roots, path) !== undefined;

/** Whether removing a folder with an entry of this name in it must be refused. */
export const keepsTree = (name: Path): boolean => protects(name)?.keepsTree === true;

const ruleFor = (roots: readonly Path[], path: Path): Rule | undefined =>
  namesBelowRoot(roots, path).map(protects).find(Boolean);

const protects = (name: Path): Rule | undefined => RULES.get(comparable(name));

/** The root is the person's choice, so only names below it count. */
function namesBelowRoot(roots: readonly Path[], path: Path): Path[] {
  const holders = roots.filter((root) => isWithin(root, path));
  // The outermost: a root inside another's `.git` does not open that folder.
  const root = holders.reduce((a, b) => (a.length <= b.length ? a : b), path);
  return path.slice(root.length).split("/").filter(Boolean);
}

/** One spelling for all names that some file system takes for the same: case, Unicode form, characters it ignores. */
const comparable = (name: Path): string =>
  name
    .normalize("NFC")
    .replace(/\p{Default_Ignorable_Code_Point}/gu, "")
    // Letters such as the long s have a lower case of their own, but share the upper case.
    .toUpperCase()
    .replace(/[. ]+$/, "")
    .toLowerCase();

/**
 * Refuses to write into a file that is also a protected one by another hard link. The system cannot list a file's
 * names, so only those are checked that would turn a file of this project into a command.
 */
export function checkOtherNames(confinement: Confinement, changes: readonly Change[]): void {
  for (const { path, before, after } of changes) {
    if (!before || !after || before.stat.nlink === 1) continue;
    for (const above of foldersAbove(confinement.roots, path)) {
      using folder = confinement.openFolder(above);
      const other = dangerousNames(folder).find((name) => isSameFile(folder.at(name), before.stat));
      if (other === undefined) continue;
      const what = `is the same file as the protected ${other} (a hard link). Ask the person to change it by hand.`;
      throw entryError("PROTECTED_PATH", path, what, { rule: other });
    }
  }
}

function foldersAbove(roots: readonly Path[], path: Path): Path[] {
  const { parent } = splitPath(path);
  if (parent === path || !roots.some((root) => isWithin(root, parent))) return [];
  return [parent, ...foldersAbove(roots, parent)];
}

const HOOKS = ".git/hooks";
const NAMES = [".git/config", ...PROTECTED.flatMap(({ names }) => names)];

function dangerousNames(folder: PinnedFolder): readonly Path[] {
  // None: not a repository, or its hooks are elsewhere or unreadable.
  const hooks = attempt(() => readdirSync(folder.at(HOOKS), "utf8")) ?? [];
  return [...NAMES, ...hooks.map((name) => `${HOOKS}/${name}`)];
}

function isSameFile(path: string | Buffer, { dev, ino }: Stats): boolean {
  // An unreadable entry is not writable for us either.
  const found = attempt(() => lstatSync(path, { throwIfNoEntry: false }));
  return found?.dev === dev && found.ino === ino;
}
