import { cannot, type Runner } from "../runner.ts";
import { cargoTest } from "./cargo-test.ts";
import { goTest } from "./go-test.ts";
import { gradle, maven } from "./junit.ts";
import { nodeRunners } from "./node.ts";
import { nodeTest } from "./node-test.ts";
import { ctest, phpunit } from "./own-report.ts";
import { pytest, unittest } from "./python.ts";
import { minitest, rspec } from "./ruby.ts";

const RUNNERS: readonly Runner[] = [
  ...nodeRunners,
  nodeTest,
  pytest,
  unittest,
  goTest,
  cargoTest,
  maven,
  gradle,
  ctest,
  phpunit,
  rspec,
  minitest,
];

/** A known runner; otherwise any test command of a project, whose TAP and JUnit reports are parsed. */
export const runnerOf = (name: string): Runner =>
  RUNNERS.find((runner) => runner.name === name) ?? anyCommand(name);

const anyCommand = (name: string): Runner => ({
  name,
  reads: { from: "anywhere" },
  isTestFile: () => false,
  selects: [],
  command({ suite, coverage }) {
    if (coverage) throw cannot(name, "measure coverage", "run it without");
    const [program = name, ...rest] = suite.command;
    return { argv: [program, ...rest] };
  },
});
