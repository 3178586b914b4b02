import { NODE_EVENTS } from "./node-events.ts";

export const VITEST_REPORTER = `
import { appendFileSync } from "node:fs";
${NODE_EVENTS}
const OUTCOMES = { passed: "pass", failed: "fail", skipped: "skip" };
const suitesOf = (test) => {
  const names = [];
  for (let up = test.parent; up && up.type === "suite"; up = up.parent) names.unshift(up.name);
  return names;
};
const problemOf = (errors) => {
  const [error] = errors || [];
  const [frame] = (error && error.stacks) || [];
  return { ...toProblem(error), at: frame && { file: frame.file, line: frame.line, col: frame.column } };
};
const reportTasks = (tasks, suite, file) => {
  for (const task of tasks) {
    if (task.type === "suite") reportTasks(task.tasks, [...suite, task.name], file);
    else {
      const { state, errors, duration } = task.result || {};
      const outcome = state === "pass" || state === "fail" ? state : "skip";
      tell({
        event: "test", name: task.name, suite, file, outcome, ms: duration,
        problem: outcome === "fail" ? problemOf(errors) : undefined,
      });
    }
  }
};
export default class {
  isToldByCase = false;
  onTestRunStart() { this.isToldByCase = true; }
  onTestCaseResult(test) {
    const { state, errors } = test.result();
    tell({
      event: "test", name: test.name, suite: suitesOf(test), file: test.module.moduleId,
      outcome: OUTCOMES[state] || "skip", ms: test.diagnostic()?.duration,
      problem: state === "failed" ? problemOf(errors) : undefined,
    });
  }
  onTestSuiteResult(suite) { this.reportErrors(suite, suite.name, suite.module.moduleId); }
  onTestModuleEnd(module) { this.reportErrors(module, module.relativeModuleId || module.moduleId, module.moduleId); }
  reportErrors(entity, name, file) {
    const errors = entity.errors();
    if (errors.length > 0) tell({ event: "broken", name, file, problem: problemOf(errors) });
  }
  onTestRunEnd(_modules, unhandled, reason) {
    for (const error of unhandled) tell({ event: "broken", name: error.name || "unhandled error", problem: problemOf([error]) });
    if (reason !== "interrupted") tell({ event: "end" });
  }
  // Before version 3 this is the only hook, at the very end.
  onFinished(files = [], unhandled = []) {
    if (this.isToldByCase) return;
    for (const file of files) {
      reportTasks(file.tasks, [], file.filepath);
      const { errors = [] } = file.result || {};
      if (file.tasks.length === 0 && errors.length > 0)
        tell({ event: "broken", name: file.name, file: file.filepath, problem: problemOf(errors) });
    }
    for (const error of unhandled) tell({ event: "broken", name: error.name || "unhandled error", problem: problemOf([error]) });
    tell({ event: "end" });
  }
}
`;
