import { NODE_EVENTS } from "./node-events.ts";

export const JEST_REPORTER = String.raw`
const { appendFileSync } = require("fs");
${NODE_EVENTS}
const OUTCOMES = { passed: "pass", failed: "fail" };
const keyOf = ({ ancestorTitles, title }) => JSON.stringify([ancestorTitles, title]);
const problemOf = ({ failureMessages, failureDetails }) => {
  const [detail] = failureDetails || [];
  const { matcherResult } = detail || {};
  const stack = short(failureMessages[0]) || "";
  const message = (matcherResult && matcherResult.message) || stack.split(/\n\s+at /, 1)[0];
  return { message, stack, expected: shown(matcherResult?.expected), actual: shown(matcherResult?.actual) };
};
module.exports = class {
  told = new Map();
  reportCase(path, result) {
    tell({
      event: "test", name: result.title, suite: result.ancestorTitles, file: path,
      outcome: OUTCOMES[result.status] || "skip", ms: result.duration,
      problem: result.status === "failed" ? problemOf(result) : undefined,
    });
  }
  onTestCaseResult({ path }, result) {
    const told = this.told.get(path) || [];
    this.told.set(path, [...told, keyOf(result)]);
    this.reportCase(path, result);
  }
  onTestResult({ path }, { testResults, testExecError, failureMessage }) {
    const told = this.told.get(path) || [];
    this.told.delete(path);
    for (const result of testResults) {
      const at = told.indexOf(keyOf(result));
      if (at < 0) this.reportCase(path, result);
      else told.splice(at, 1);
    }
    if (!testExecError) return;
    const problem = toProblem(testExecError);
    tell({ event: "broken", name: path, file: path, problem: { ...problem, message: short(failureMessage) || problem.message } });
  }
  onRunComplete(_contexts, { wasInterrupted, runExecError }) {
    if (runExecError) tell({ event: "broken", name: "jest", problem: toProblem(runExecError) });
    if (!wasInterrupted) tell({ event: "end" });
  }
};
`;
