import { action, pagingInput, Uri } from "@octant/core";
import { pathToUri } from "@octant/host";
import { z } from "zod";
import { INSPECT } from "../kinds.ts";
import { withinBudget } from "../within-budget.ts";
import type { TestOptions } from "./runner.ts";
import type { Suite } from "./suites.ts";

const MAX_FILES = 20;
const PAGE_BYTES = 28_000;

export const list = ({ workspace: { confinement } }: TestOptions) =>
  action({
    summary: "List test suites: the packages with tests and their runners.",
    ...INSPECT,
    input: z.strictObject({
      path: Uri.optional().describe("A folder, or a file to select its package; default all"),
      ...pagingInput(20, 100),
    }),
    output: z.object({
      suites: z.array(
        z.object({
          suite: z.string().describe("For test.run"),
          package: z.string(),
          runner: z.string(),
          uri: Uri.describe("The package's folder"),
          command: z.array(z.string()),
          files: z.array(Uri).describe("The first files that look like tests"),
          file_count: z.int(),
        }),
      ),
    }),
    errors: ["OUTSIDE_WORKSPACE", "INVALID_CURSOR"],
    examples: [
      { title: "All suites", input: {} },
      { title: "Suites for a file", input: { path: "src/main.ts" } },
    ],
    text: ({ suites }, { path }) => ({
      body:
        suites
          .map(({ suite, runner, command, files, file_count }) =>
            [
              `${suite} (${runner}): ${command.join(" ")}`,
              ...files.map((file) => `  ${path(file)}`),
              ...(file_count > files.length ? [`  … ${file_count - files.length} more files`] : []),
            ].join("\n"),
          )
          .join("\n") || "no test suites",
    }),
    async run({ path, limit }, ctx) {
      const { findSuites, suitesAt } = await import("./suites.ts");
      const place = path === undefined ? undefined : confinement.toPath(path);
      const all = await findSuites(confinement, ctx.signal);
      const suites = place === undefined ? all : suitesAt(all, place);
      const from = ctx.resume(z.int().min(0)) ?? 0;
      const page = withinBudget(suites.slice(from, from + limit).map(toView), PAGE_BYTES);
      if (from + page.length < suites.length) ctx.more(from + page.length);
      return { suites: page };
    },
  });

const toView = ({ id, package: name, runner, folder, command, files }: Suite) => ({
  suite: id,
  package: name,
  runner,
  uri: pathToUri(folder),
  command: [...command],
  files: files.slice(0, MAX_FILES).map((file) => pathToUri(`${folder}/${file}`)),
  file_count: files.length,
});
