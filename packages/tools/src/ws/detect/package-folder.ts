import type { Path } from "@octant/host";
import { type Data, readJson, readToml, toData } from "../formats/data.ts";
import type { ProjectFiles } from "../project-files.ts";
import { joinPath, nameOf, parentOf, pathBelow } from "./paths.ts";
import type { SurveyedFolder } from "./survey.ts";

const MAX_DEPTH_BELOW = 8;
const MAX_FILES_BELOW = 2_000;

export type PackageFolder = ReturnType<typeof createPackageFolder>;

/** A folder with a marker, as an ecosystem sees it. Reading never fails; a broken file is reported once. */
export function createPackageFolder(folder: SurveyedFolder, files: ProjectFiles) {
  const names = new Set([...folder.files, ...folder.links]);
  const texts = new Map<Path, string | undefined>();
  const parsed = new Map<Path, Data>();

  const report = (path: Path, message: string) => files.report(joinPath(folder.path, path), message);
  const read = (path: Path): string | undefined => {
    // A file that is not in the listing need not be opened.
    if ((names.has(path) || path.includes("/")) && !texts.has(path))
      texts.set(path, files.text(joinPath(folder.path, path)));
    return texts.get(path);
  };
  const parse = (path: Path, readFormat: typeof readJson): Data => {
    const known = parsed.get(path);
    if (known) return known;
    const text = read(path);
    const { value, problem }: ReturnType<typeof readFormat> =
      text === undefined ? { value: undefined } : readFormat(text);
    if (problem !== undefined) report(path, problem);
    const data = toData(value);
    parsed.set(path, data);
    return data;
  };

  return {
    /** Names of its files and links. */
    names,
    folderNames: new Set(folder.folders),
    /** The first of these names that is a file here. */
    first: (...wanted: readonly string[]) => wanted.find((name) => names.has(name)),
    /** Names here with this extension, such as `.csproj`. */
    ending: (suffix: string) => [...names].filter((name) => name.endsWith(suffix)),
    /** The text of a file in this folder or below; empty when there is none. */
    text: (path: Path) => read(path) ?? "",
    json: (name: string) => parse(name, readJson),
    toml: (name: string) => parse(name, readToml),
    report,
    /** The nearest of these files, here or further up in the workspace. */
    nearest: (wanted: readonly string[]) => nearest(files, folder.path, wanted),
    /** Files in it and below, to a small depth, nearest first. */
    filesBelow: () => filesBelow(folder),
    hasFile: (path: Path) => hasFile(files, joinPath(folder.path, path)),
  };
}

function nearest(files: ProjectFiles, start: Path, wanted: readonly string[]) {
  let folder = start;
  for (let up = 0; ; up++) {
    const entries = files.entries(folder);
    const name = wanted.find((one) => entries.files.includes(one) || entries.links.includes(one));
    if (name !== undefined) return { name, path: "../".repeat(up) + name };
    if (folder === "") return undefined;
    folder = parentOf(folder);
  }
}

/** Uses the cached listing, so that trying a dozen usual names is cheap. */
function hasFile(files: ProjectFiles, path: Path): boolean {
  const name = nameOf(path);
  const entries = files.entries(parentOf(path));
  return entries.files.includes(name) || (entries.links.includes(name) && files.isFile(path));
}

function* filesBelow(top: SurveyedFolder): Iterable<Path> {
  let count = 0;
  let level: readonly SurveyedFolder[] = [top];
  for (let depth = 0; depth <= MAX_DEPTH_BELOW; depth++) {
    for (const folder of level) {
      const inside = pathBelow(top.path, folder.path);
      for (const name of folder.files) {
        if (++count > MAX_FILES_BELOW) return;
        yield joinPath(inside, name);
      }
    }
    level = level.flatMap((folder) => folder.walked);
  }
}
