import type { Ecosystem, PackageFolder } from "../detect/ecosystem.ts";
import { linesOf } from "../formats/lines.ts";

interface TaskFile {
  readonly program: string;
  readonly files: readonly string[];
  /** Matches the name of a target in a whole line: indented lines are commands, except in a Taskfile. */
  readonly target: RegExp;
}

const TASK_FILES: readonly TaskFile[] = [
  {
    program: "make",
    files: ["GNUmakefile", "makefile", "Makefile"],
    target: /^([A-Za-z][\w.-]*)\s?:(?![=:])/,
  },
  {
    program: "just",
    files: ["justfile", "Justfile", ".justfile"],
    target: /^@?([A-Za-z][\w-]*)(?:\s[^:]*)?:(?!=)/,
  },
  { program: "task", files: ["Taskfile.yml", "Taskfile.yaml"], target: /^ {2}([A-Za-z][\w:-]*):\s*$/ },
];

/** The targets worth listing among possibly hundreds. */
const BUILD_TARGETS = new Set(
  "all build compile check lint format fmt install dev run serve start docs".split(" "),
);
const TEST_TARGETS = new Set(["test", "tests"]);

/** Make and its successors, which run commands of any ecosystem. */
export const tasks: Ecosystem = {
  name: "tasks",
  markers: TASK_FILES.flatMap(({ files }) => files),
  tasksOnly: true,
  spansSubfolders: true,
  inspect(folder) {
    const targets = TASK_FILES.flatMap((taskFile) =>
      targetsOf(folder, taskFile).map((target) => [target, [taskFile.program, target]] as const),
    );
    return {
      build: targets.filter(([target]) => BUILD_TARGETS.has(target)),
      test: targets
        .filter(([target]) => TEST_TARGETS.has(target))
        .map(([, command]) => [command[0] as string, command]),
    };
  },
};

function targetsOf(folder: PackageFolder, { files, target }: TaskFile): string[] {
  const file = folder.first(...files);
  const lines = file === undefined ? [] : linesOf(folder.text(file));
  return [...new Set(lines.flatMap((line) => target.exec(line)?.[1] ?? []))];
}
