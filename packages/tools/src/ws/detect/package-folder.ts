import type { Path } from "@octant/host";
import { type Data, toData } from "../formats/data.ts";
import { readJson } from "../formats/json.ts";
import { readToml } from "../formats/toml.ts";
import type { ProjectFiles } from "../project-files.ts";
import type { PackageFolder } from "./ecosystem.ts";
import { joinPath, nameOf, parentOf, pathBelow } from "./paths.ts";
import type { SurveyedFolder } from "./survey.ts";

const MAX_DEPTH_BELOW = 8;
const MAX_FILES_BELOW = 2_000;

export function createPackageFolder(folder: SurveyedFolder, files: ProjectFiles): PackageFolder {
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
    names,
    folderNames: new Set(folder.folderNames),
    first: (...wanted) => wanted.find((name) => names.has(name)),
    ending: (suffix) => [...names].filter((name) => name.endsWith(suffix)),
    text: (name) => read(name) ?? "",
    json: (path) => parse(path, readJson),
    toml: (path) => parse(path, readToml),
    report,
    nearest: (wanted) => nearest(files, folder.path, wanted),
    filesBelow: () => filesBelow(folder),
    hasFile: (path) => hasFile(files, joinPath(folder.path, path)),
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
    level = level.flatMap((folder) => folder.folders);
  }
}
