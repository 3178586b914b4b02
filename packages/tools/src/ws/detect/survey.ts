import { setImmediate as nextTurn } from "node:timers/promises";
import type { Path } from "@octant/host";
import type { FolderEntries, ProjectFiles } from "../project-files.ts";
import { joinPath } from "./paths.ts";

export interface SurveyedFolder extends FolderEntries {
  /** Relative to the workspace root; "" is the root itself. */
  readonly path: Path;
  /** The subfolders that were walked. */
  readonly walked: SurveyedFolder[];
}

export interface Survey {
  readonly start: SurveyedFolder;
  /** The walked folders in breadth-first order, so that the top levels are complete whatever the limits. */
  readonly folders: readonly SurveyedFolder[];
  readonly files: number;
  readonly truncated: boolean;
}

const MAX_ENTRIES = 50_000;
const MAX_DEPTH = 16;
const TURN_MS = 8;

/** Walks the project within limits, skipping folders with generated content. */
export async function survey(files: ProjectFiles, start: Path, signal: AbortSignal): Promise<Survey> {
  const folders: SurveyedFolder[] = [];
  const queue: { path: Path; depth: number; parent?: SurveyedFolder }[] = [{ path: start, depth: 0 }];
  let seen = 0;
  let truncated = false;
  let turnStart = performance.now();
  for (const step of queue) {
    if (seen >= MAX_ENTRIES) {
      truncated = true;
      break;
    }
    if (performance.now() - turnStart > TURN_MS) {
      await nextTurn();
      signal.throwIfAborted();
      turnStart = performance.now();
    }
    const entries = files.entries(step.path);
    if (step.parent && entries.files.some((name) => GENERATED_SIGNS.has(name))) continue;
    seen += entries.files.length + entries.folders.length + entries.links.length;
    truncated ||= entries.truncated;
    const folder: SurveyedFolder = { ...entries, path: step.path, walked: [] };
    folders.push(folder);
    step.parent?.walked.push(folder);
    const inner = entries.folders.filter(isWrittenByHand);
    truncated ||= inner.length > 0 && step.depth === MAX_DEPTH;
    if (step.depth === MAX_DEPTH) continue;
    for (const name of inner) {
      queue.push({ path: joinPath(step.path, name), depth: step.depth + 1, parent: folder });
    }
  }
  const count = folders.reduce((sum, folder) => sum + folder.files.length, 0);
  // The queue starts with `start`, so it is always the first walked folder.
  return { start: folders[0] as SurveyedFolder, folders, files: count, truncated };
}

/** Caches, virtual environments and similar folders contain a file with one of these names. */
const GENERATED_SIGNS: ReadonlySet<string> = new Set(["CACHEDIR.TAG", "pyvenv.cfg"]);

/** Hidden folders contain settings; the few relevant ones are looked up by name. */
const isWrittenByHand = (name: Path): boolean => !name.startsWith(".") && !GENERATED_FOLDERS.has(name);

const GENERATED_FOLDERS: ReadonlySet<string> = new Set([
  "__pycache__",
  "bower_components",
  "build",
  "cmake-build-debug",
  "cmake-build-release",
  "coverage",
  "DerivedData",
  "dist",
  "node_modules",
  "obj",
  "out",
  "Pods",
  "site-packages",
  "target",
  "vendor",
  "venv",
]);
