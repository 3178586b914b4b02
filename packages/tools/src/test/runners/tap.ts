import { createTapParser } from "../parsers/tap.ts";
import { asArgument, cannot, type Runner } from "../runner.ts";
import { isScriptTest, nodeCommand } from "./node-command.ts";

/** Runners that print TAP on request. */
const tapRunner = (name: string, flag: string): Runner => ({
  name,
  reads: { from: "stdout", parser: () => createTapParser },
  isTestFile: isScriptTest,
  selects: ["file"],
  command(plan) {
    const { selection } = plan;
    if (plan.coverage) throw cannot(name, "measure coverage", "run it without");
    return nodeCommand(plan, name, [flag, ...(selection?.by === "file" ? [asArgument(selection.path)] : [])]);
  },
});

export const ava = tapRunner("ava", "--tap");
export const nodeTap = tapRunner("tap", "--reporter=tap");

/** Any test command of a project; TAP and JUnit reports are parsed. */
export const command = (name: string): Runner => ({
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
