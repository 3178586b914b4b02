import type { Path } from "@octant/host";
import { createLibtestParser } from "../parsers/libtest.ts";
import { cannot, notInstalled, type Plan, type Runner } from "../runner.ts";

export const cargoTest: Runner = {
  name: "cargo test",
  reads: { from: "stdout", parser: () => createLibtestParser },
  isTestFile: (path) => /(?:^|\/)tests\/[^/]+\.rs$/.test(path),
  command(plan) {
    const { suite, workers, onPath } = plan;
    if (!onPath("cargo")) throw notInstalled("cargo", "get it from https://rustup.rs, or cargo on Debian");
    if (plan.coverage) throw cannot("cargo test", "measure coverage", "use cargo llvm-cov with proc.exec");
    const { targets, names } = select(plan);
    const [program = "cargo", ...rest] = suite.command;
    const threads = workers === undefined ? [] : [`--test-threads=${workers}`];
    return {
      argv: [program, ...rest, "--no-fail-fast", "--color=never", ...targets, "--", ...threads, ...names],
    };
  },
};

function select({ selection }: Plan): { targets: string[]; names: string[] } {
  if (selection === undefined) return { targets: [], names: [] };
  // A name that starts with a dash would be an option; no test name does, so the rest of it matches the same tests.
  if (selection.by === "name") return { targets: [], names: [selection.text.replace(/^-+/, "")] };
  if (selection.by === "file") return ofFile(selection.path);
  return { targets: [], names: ["--exact", ...selection.tests.flatMap(({ id }) => (id ? [id] : []))] };
}

/** `tests/a.rs` is a separate program; a file of the crate is a module. */
function ofFile(path: Path): { targets: string[]; names: string[] } {
  const [, program] = /(?:^|\/)tests\/([^/]+)(?:\.rs|\/main\.rs)$/.exec(path) ?? [];
  if (program !== undefined) return { targets: [`--test=${program}`], names: [] };
  const [, module = ""] = /(?:^|\/)src\/(.+?)(?:\/mod)?\.rs$/.exec(path) ?? [];
  if (module === "lib" || module === "main" || module === "") return { targets: [], names: [] };
  return { targets: [], names: [`${module.replaceAll("/", "::")}::`] };
}
