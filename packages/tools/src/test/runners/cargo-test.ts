import type { Path } from "@octant/host";
import { createLibtestParser } from "../parsers/libtest.ts";
import { cannot, idsOf, notInstalled, type Runner, selectedBy } from "../runner.ts";

interface Selected {
  readonly targets?: readonly string[];
  readonly names?: readonly string[];
  readonly note?: string;
}

export const cargoTest: Runner = {
  name: "cargo test",
  reads: { from: "stdout", parser: () => createLibtestParser },
  isTestFile: (path) => /(?:^|\/)tests\/[^/]+\.rs$/.test(path),
  command(plan) {
    const { suite, workers, onPath } = plan;
    if (!onPath("cargo")) throw notInstalled("cargo", "get it from https://rustup.rs, or cargo on Debian");
    if (plan.coverage) throw cannot("cargo test", "measure coverage", "use cargo llvm-cov with proc.exec");
    const {
      targets = [],
      names = [],
      note,
    } = selectedBy<Selected>(plan, {
      // A name that starts with a dash would be an option; no test name does, so the rest matches the same tests.
      name: (text) => ({ names: [text.replace(/^-+/, "")] }),
      file: ofFile,
      tests: (tests) => ({ names: ["--exact", ...idsOf(tests)] }),
    }) ?? {};
    const [program = "cargo", ...rest] = suite.command;
    const threads = workers === undefined ? [] : [`--test-threads=${workers}`];
    return {
      argv: [program, ...rest, "--no-fail-fast", "--color=never", ...targets, "--", ...threads, ...names],
      note,
    };
  },
};

/** `tests/a.rs` is a separate program; a file of the crate is a module. */
function ofFile(path: Path): Selected {
  const [, program] = /(?:^|\/)tests\/([^/]+)(?:\.rs|\/main\.rs)$/.exec(path) ?? [];
  if (program !== undefined) return { targets: [`--test=${program}`] };
  const [, module = ""] = /(?:^|\/)src\/(.+?)(?:\/mod)?\.rs$/.exec(path) ?? [];
  const note = `cargo test cannot select the tests of ${path} alone`;
  if (module === "lib") return { targets: ["--lib"], note: `${note}: all of the library ran` };
  if (module === "main") return { targets: ["--bins"], note: `${note}: all of the program ran` };
  if (module === "") return { note: `${note}: all of the package ran` };
  return { names: [`${module.replaceAll("/", "::")}::`] };
}
