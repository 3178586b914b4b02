import { ANSWER_BYTES, ANSWER_MARGIN_BYTES, action, ToolError, Uri } from "@octant/core";
import { isWithin, type Path, splitPath } from "@octant/host";
import { z } from "zod";
import { INSPECT } from "../kinds.ts";
import { Detected, detectedText } from "./detect/answer.ts";
import type { WsOptions } from "./options.ts";
import { createProjectFiles, type Looking } from "./project-files.ts";

export const detect = ({ workspace: { confinement } }: WsOptions) =>
  action({
    summary:
      "Detect languages, package managers, build and test commands, entry points and instruction files.",
    ...INSPECT,
    input: z.strictObject({
      path: Uri.optional().describe("The project that contains it; default the first root"),
    }),
    output: Detected,
    errors: ["NOT_FOUND", "OUTSIDE_WORKSPACE"],
    examples: [
      { title: "The whole workspace", input: {} },
      { title: "The project that a file belongs to", input: { path: "src/main.ts" } },
    ],
    text: detectedText,
    async run({ path }, { signal }) {
      // The formats and ecosystems are loaded here, because most servers are never asked.
      const { describeProject } = await import("./detect/describe.ts");
      const { projectAround } = await import("./detect/packages.ts");
      const place = path === undefined ? undefined : folderOf(confinement, confinement.toPath(path));
      const root = place === undefined ? (confinement.roots[0] as Path) : rootOf(confinement, place);
      const files = createProjectFiles(confinement, root);
      const start = place === undefined ? "" : projectAround(files.entries, relativeTo(root, place));
      const budget = ANSWER_BYTES - ANSWER_MARGIN_BYTES;
      return describeProject(files, start, confinement.roots, budget, signal);
    },
  });

/** The real path of a folder, or of a file's folder. */
function folderOf(confinement: Looking, path: Path): Path {
  try {
    using folder = confinement.openFolder(path);
    return folder.path;
  } catch (error) {
    if (!(error instanceof ToolError && error.code === "NOT_A_DIRECTORY")) throw error;
  }
  using entry = confinement.openEntry(path);
  return splitPath(entry.path).parent;
}

/** Roots may be nested; the innermost one counts. */
const rootOf = ({ roots }: Looking, path: Path): Path =>
  roots
    .filter((root) => isWithin(root, path))
    .reduce((innermost, root) => (root.length > innermost.length ? root : innermost));

const relativeTo = (root: Path, path: Path): Path => path.slice(root === "/" ? 1 : root.length + 1);
