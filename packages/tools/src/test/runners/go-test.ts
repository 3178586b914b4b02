import type { Path } from "@octant/host";
import { createGoParser } from "../parsers/go-json.ts";
import { cannot, escapePattern, idsOf, notInstalled, type Plan, type Runner, selectedBy } from "../runner.ts";

export const goTest: Runner = {
  name: "go test",
  reads: { from: "stdout", parser: ({ package: module }) => createGoParser(module) },
  isTestFile: (path) => path.endsWith("_test.go"),
  command(plan) {
    const { workers, coverage, onPath } = plan;
    if (!onPath("go")) throw notInstalled("go", "get it from https://go.dev/dl, or golang-go on Debian");
    const { packages = ["./..."], pattern } = select(plan);
    return {
      argv: [
        "go",
        "test",
        "-json",
        ...(workers === undefined ? [] : [`-parallel=${workers}`, `-p=${workers}`]),
        ...(coverage ? ["-cover"] : []),
        ...(pattern === undefined ? [] : [`-run=${pattern}`]),
        ...packages,
      ],
    };
  },
};

/** Go splits a pattern at slashes, one part per level of subtests. */
const select = (plan: Plan) =>
  selectedBy<{ packages?: readonly string[]; pattern?: string }>(plan, {
    name: (text) => ({ pattern: text.split("/").map(toPattern).join("/") }),
    file: (path) => ofFile(path, plan),
    tests(tests) {
      const known = idsOf(tests).map((id) => {
        const [path = "", test = ""] = id.split(" ", 2);
        return { path, test: test.split("/", 1)[0] ?? "" };
      });
      return {
        packages: [...new Set(known.map(({ path }) => path || plan.suite.package))],
        pattern: `^(?:${[...new Set(known.map(({ test }) => toPattern(test)))].join("|")})$`,
      };
    },
  }) ?? {};

/** The tests that a file declares, in its package; a folder is a package. */
function ofFile(path: Path, { text }: Plan): { packages: readonly string[]; pattern?: string } {
  if (!path.endsWith(".go")) return { packages: [`./${path}/...`] };
  const packages = [`./${path.slice(0, Math.max(0, path.lastIndexOf("/")))}`];
  const names = [...(text(path) ?? "").matchAll(/^func ((?:Test|Example|Fuzz)\w*)\(/gm)].map(
    ([, name = ""]) => name,
  );
  if (names.length === 0)
    throw cannot(
      "go test",
      `run ${path}, which declares no test`,
      "name a _test.go file, or the folder of its package",
    );
  return { packages, pattern: `^(?:${names.join("|")})$` };
}

/** Go replaces spaces in subtest names by underscores. */
const toPattern = (name: string): string => escapePattern(name).replaceAll(/\s/g, "_");
