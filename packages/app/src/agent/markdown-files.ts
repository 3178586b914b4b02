import { readdirSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { hashOf, readRegularFile } from "@octant/host";
import { createInstructionTrust, type InstructionContent } from "@octant/runtime";
import { MEMORY_FOLDER } from "@octant/tools";
import type { Octant } from "../octant-api.ts";

/** Where commands and roles are, in the order in which a name counts. */
export const COMMANDS_FOLDERS = [".hanzo/commands", ".claude/commands"] as const;
const ROLES_FOLDERS = [".hanzo/agents", ".claude/agents"] as const;
export const MARKDOWN_FOLDERS = { commands: COMMANDS_FOLDERS, roles: ROLES_FOLDERS } as const;
/** Folders with Markdown instructions for the agent. */
export const TRUSTED_FOLDERS = [...ROLES_FOLDERS, ...COMMANDS_FOLDERS, MEMORY_FOLDER] as const;

const MAX_FILES = 1_000;
const MAX_DEPTH = 4;
const MAX_BYTES = 64 * 1024;

export interface MarkdownFile extends InstructionContent {
  /** Its path in the folder without the extension: `git:push` of `git/push.md`. */
  readonly name: string;
  readonly text: string;
}

/** The person's own files, and those of the project that they trust with exactly this content. */
export function loadMarkdown(
  octant: Pick<Octant, "workspace">,
  env: NodeJS.ProcessEnv,
  folders: readonly string[],
): readonly MarkdownFile[] {
  const isTrusted = createInstructionTrust({ env });
  const home = env["HOME"] ?? homedir();
  return folders.flatMap((folder) => [
    ...filesIn(home, folder, { followsLinks: true }),
    ...markdownFiles(octant, folder).filter(isTrusted),
  ]);
}

/** All Markdown files in a folder of the project, with the data that trust depends on. */
export const markdownFiles = (
  { workspace }: Pick<Octant, "workspace">,
  folder: string,
): readonly MarkdownFile[] =>
  workspace.confinement.roots.flatMap((root) => filesIn(root, folder, { followsLinks: false }));

interface Following {
  readonly followsLinks: boolean;
}

const filesIn = (root: string, folder: string, following: Following): MarkdownFile[] =>
  pathsIn(join(root, folder), following).flatMap((path) => {
    const bytes = readRegularFile(join(root, folder, path), MAX_BYTES, following);
    if (bytes === undefined) return [];
    const name = path.slice(0, -EXTENSION.length).replaceAll("/", ":");
    return [{ name, folder: root, path: `${folder}/${path}`, hash: hashOf(bytes), text: bytes.toString() }];
  });

const EXTENSION = ".md";

function pathsIn(folder: string, following: Following, depth = 1): string[] {
  try {
    return readdirSync(folder, { withFileTypes: true })
      .sort((a, b) => (a.name < b.name ? -1 : 1))
      .flatMap((entry) => {
        if (entry.isDirectory())
          return depth < MAX_DEPTH
            ? pathsIn(join(folder, entry.name), following, depth + 1).map((path) => `${entry.name}/${path}`)
            : [];
        const counts = entry.isFile() || (following.followsLinks && entry.isSymbolicLink());
        return counts && entry.name.endsWith(EXTENSION) ? [entry.name] : [];
      })
      .slice(0, MAX_FILES);
  } catch {
    return [];
  }
}
