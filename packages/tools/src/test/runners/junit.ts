import type { Path } from "@octant/host";
import { cannot, notInstalled, type Plan, type Runner, selectedBy } from "../runner.ts";

const isJvmTest = (path: Path): boolean => /(?:Tests?|IT|Spec)\.(?:java|kt|scala|groovy)$/.test(path);

export const maven: Runner = {
  name: "maven",
  reads: { from: "reports" },
  isTestFile: isJvmTest,
  command(plan) {
    if (plan.coverage) throw cannot("maven", "measure coverage", "add JaCoCo to the pom");
    // `Class`, `Class#method`, with wildcards in either.
    const tests =
      selectedBy(plan, {
        name: (text) => [`*${plain(text)}*`, `*#*${plain(text)}*`],
        file: (path) => [className(path)],
        tests: (known) => known.map(({ suite, name }) => `${suite.at(-1) ?? "*"}#${plain(name)}`),
      }) ?? [];
    return {
      argv: [
        ...programOf(plan, "mvn", "get it from https://maven.apache.org, or maven on Debian"),
        "--batch-mode",
        "--fail-at-end",
        // Modules without a matching test are not a failure; Surefire has two names for that option.
        ...(tests.length > 0
          ? [`-Dtest=${tests.join(",")}`, "-Dsurefire.failIfNoSpecifiedTests=false", "-DfailIfNoTests=false"]
          : []),
      ],
    };
  },
};

export const gradle: Runner = {
  name: "gradle",
  reads: { from: "reports" },
  isTestFile: isJvmTest,
  command(plan) {
    if (plan.coverage) throw cannot("gradle", "measure coverage", "add the jacoco plugin");
    const [program, ...rest] = programOf(plan, "gradle", "get it from https://gradle.org/install");
    // A pattern for the full name of a method, `package.Class.method`.
    const patterns =
      selectedBy(plan, {
        name: (text) => [`*${plain(text)}*`],
        file: (path) => [`*${className(path)}*`],
        tests: (known) => known.map(({ suite, name }) => `${suite.at(-1) ?? "*"}.${plain(name)}`),
      }) ?? [];
    const tests = patterns.flatMap((pattern) => ["--tests", pattern]);
    // Without cleaning, up-to-date results are not written again.
    return { argv: [program, "--console=plain", "--continue", "cleanTest", ...rest, ...tests] };
  },
};

function programOf({ suite, onPath }: Plan, program: string, how: string): [string, ...string[]] {
  const [first = program, ...rest] = suite.command;
  if (first === program && !onPath(program)) throw notInstalled(program, how);
  return [first, ...rest];
}

const className = (path: Path): string => plain(path.slice(path.lastIndexOf("/") + 1).replace(/\.\w+$/, ""));

/** Class and method names without the `()` and parameters that JUnit adds. */
const plain = (name: string): string => /[\w.$]+/.exec(name)?.[0] ?? "";
