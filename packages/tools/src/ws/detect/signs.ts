import type { Path } from "@octant/host";
import type { FolderEntries, ProjectFiles } from "../project-files.ts";
import { joinPath, parentOf } from "./paths.ts";
import type { Survey } from "./survey.ts";

/** Files whose name alone is significant. */
interface Sign {
  /** Names that count in every walked folder. */
  readonly names: RegExp;
  /** Hidden folders of the project's root, and the names that count there. */
  readonly hidden: readonly (readonly [folder: Path, names: RegExp])[];
}

/** Instructions for agents and for contributors. */
export const INSTRUCTIONS: Sign = {
  names:
    /^(AGENTS(\.override)?|AGENT|CLAUDE(\.local)?|GEMINI|QWEN|WARP|CONTRIBUTING)\.md$|^\.(cursorrules|windsurfrules|clinerules|roorules|goosehints)$|^CONVENTIONS\.md$/,
  hidden: [
    [".github", /^(copilot-instructions|CONTRIBUTING)\.md$/],
    [".github/instructions", /\.instructions\.md$/],
    [".cursor/rules", /\.mdc?$/],
    [".windsurf/rules", /\.md$/],
    [".clinerules", /\.md$/],
    [".claude", /^CLAUDE\.md$/],
    [".junie", /^guidelines\.md$/],
  ],
};

export const CONTAINERS: Sign = {
  names: /^(Dockerfile|Containerfile)(\.[\w-]+)?$|^(docker-)?compose([.-][\w-]+)?\.ya?ml$|\.dockerfile$/,
  hidden: [[".devcontainer", /^devcontainer\.json$/]],
};

export const CI: Sign = {
  names:
    /^(Jenkinsfile|\.gitlab-ci\.yml|\.travis\.yml|azure-pipelines\.yml|bitbucket-pipelines\.yml|\.drone\.yml|appveyor\.yml)$/,
  hidden: [
    [".github/workflows", /\.ya?ml$/],
    [".circleci", /^config\.yml$/],
    [".buildkite", /^pipeline\.ya?ml$/],
    [".woodpecker", /\.ya?ml$/],
    [".ci", /./],
  ],
};

/** Files in the folders above that apply to this project too, topmost first. */
export function findSignsAbove(sign: Sign, start: Path, files: ProjectFiles): Path[] {
  const found: Path[] = [];
  for (let folder = start; folder !== ""; ) {
    folder = parentOf(folder);
    found.unshift(...signsIn(folder, sign.names, files.entries(folder), files));
  }
  return found;
}

/** Where the signs are, those of the root first. A link counts when it points to a file inside the workspace. */
export function findSigns(sign: Sign, { start, folders }: Survey, files: ProjectFiles): Path[] {
  const [root, ...others] = folders.map((folder) => signsIn(folder.path, sign.names, folder, files));
  const hidden = sign.hidden
    .filter(([folder]) => start.folders.includes(folder.split("/")[0] as string))
    .map(([folder, names]) => {
      const path = joinPath(start.path, folder);
      return signsIn(path, names, files.entries(path), files);
    });
  return [...(root ?? []), ...hidden.flat(), ...others.flat()];
}

const signsIn = (
  folder: Path,
  names: RegExp,
  entries: Pick<FolderEntries, "files" | "links">,
  files: ProjectFiles,
): Path[] => [
  ...entries.files.filter((name) => names.test(name)).map((name) => joinPath(folder, name)),
  ...entries.links
    .filter((name) => names.test(name))
    .map((name) => joinPath(folder, name))
    .filter(files.isFile),
];
