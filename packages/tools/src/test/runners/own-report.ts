import { asArgument, cannot, escapePattern, notInstalled, type Runner, selectedBy } from "../runner.ts";

/** The JUnit report that a runner writes for us. */
export const toReportFile = (scratch: string): string => `${scratch}/report.xml`;

export const ctest: Runner = {
  name: "ctest",
  reads: { from: "report" },
  isTestFile: () => false,
  selects: ["name", "tests"],
  command(plan) {
    const { suite, workers, scratch, onPath, isFile } = plan;
    if (!onPath("ctest")) throw notInstalled("ctest", "get cmake from https://cmake.org, or cmake on Debian");
    if (plan.coverage) throw cannot("ctest", "measure coverage", "build with --coverage and use gcov");
    if (!isFile("build/CTestTestfile.cmake"))
      throw cannot(
        "ctest",
        "run tests before they are built",
        "run `cmake -S . -B build && cmake --build build` by proc.exec first",
      );
    const pattern = selectedBy(plan, {
      name: escapePattern,
      file: escapePattern,
      tests: (tests) => `^(${tests.map(({ name }) => escapePattern(name)).join("|")})$`,
    });
    const [program = "ctest", ...rest] = suite.command;
    return {
      argv: [
        program,
        ...rest,
        "--output-junit",
        toReportFile(scratch),
        ...(workers === undefined ? [] : ["--parallel", `${workers}`]),
        ...(pattern === undefined ? [] : ["--tests-regex", pattern]),
      ],
    };
  },
};

export const phpunit: Runner = {
  name: "phpunit",
  reads: { from: "report" },
  isTestFile: (path) => path.endsWith("Test.php"),
  command(plan) {
    const { suite, scratch, onPath, isFile } = plan;
    if (plan.coverage)
      throw cannot("phpunit", "measure coverage", "use phpunit --coverage-text with proc.exec");
    const [own = "phpunit", ...rest] = suite.command;
    const program = isFile(own) ? own : "phpunit";
    if (program !== own && !onPath(program))
      throw notInstalled("phpunit", "run composer install, or get phpunit on Debian");
    const selected = selectedBy(plan, {
      name: (text) => ["--filter", `/${escapePattern(text)}/`],
      file: (path) => [asArgument(path)],
      tests: (tests) => ["--filter", `/::(?:${tests.map(({ name }) => escapePattern(name)).join("|")})$/`],
    });
    return { argv: [program, ...rest, "--log-junit", toReportFile(scratch), ...(selected ?? [])] };
  },
  hasNoTests: ({ output }) => output.includes("No tests executed!"),
};
