/**
 * The shared part of all our JavaScript reporters; each imports appendFileSync in its own way. They are strings
 * because they do not run here: they are written next to each run and loaded by the project's own runner, with any
 * version of Node.
 */
export const NODE_EVENTS = String.raw`
const MAX_CHARS = 65536;
const short = (value) => (typeof value === "string" ? value.slice(0, MAX_CHARS) : undefined);
const shown = (value) => {
  if (value === undefined) return undefined;
  if (typeof value === "string") return short(value);
  try { return short(JSON.stringify(value, null, 2)) ?? String(value); } catch { return short(String(value)); }
};
const tell = (event) => appendFileSync(process.env.OCTANT_TEST_EVENTS, JSON.stringify(event) + "\n");
const toProblem = (error) => ({
  message: short(String((error && (error.message || error.stack || error.value)) || error || "unknown error")),
  stack: short(error && error.stack),
  expected: shown(error && error.expected),
  actual: shown(error && error.actual),
});
`;

/** The variable with the path of the reporters' output file. */
export const EVENTS_VARIABLE = "OCTANT_TEST_EVENTS";

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

export const MOCHA_REPORTER = `
const { appendFileSync } = require("fs");
${NODE_EVENTS}
const namesOf = (test) => (typeof test.titlePath === "function" ? test.titlePath() : [test.title]);
const reportTest = (test, outcome, error) => {
  console.log(outcome + " " + namesOf(test).join(" > "));
  if (error) console.log(String(error.stack || error));
  tell({
    event: "test", name: test.title, suite: namesOf(test).slice(0, -1), file: test.file,
    outcome, ms: test.duration, problem: error && toProblem(error),
  });
};
module.exports = function (runner) {
  runner.on("pass", (test) => reportTest(test, "pass"));
  runner.on("pending", (test) => reportTest(test, "skip"));
  runner.on("fail", (test, error) => reportTest(test, "fail", error));
  runner.on("end", () => tell({ event: "end" }));
};
`;

export const PLAYWRIGHT_REPORTER = `
import { appendFileSync } from "node:fs";
import { stripVTControlCharacters } from "node:util";
${NODE_EVENTS}
// Its errors have no values, but most of its messages contain them.
const named = (message, label) => message.match(new RegExp("^" + label + "[^:\\n]*: +(.*)$", "m"))?.[1];
const problemOf = (error = {}, message = stripVTControlCharacters(error.message || "")) => ({
  ...toProblem(error),
  expected: short(named(message, "Expected")),
  actual: short(named(message, "Received")),
  at: error.location && { file: error.location.file, line: error.location.line, col: error.location.column },
});
export default class {
  printsToStdio() { return false; }
  onTestEnd(test, result) {
    const failed = result.status !== "skipped" && result.status !== test.expectedStatus;
    if (failed && result.retry < test.retries) return;
    tell({
      event: "test", name: test.title, suite: test.titlePath().slice(1, -1).filter(Boolean), file: test.location.file,
      id: test.location.file + ":" + test.location.line, ms: result.duration,
      outcome: failed ? "fail" : result.status === "skipped" ? "skip" : "pass",
      problem: failed ? problemOf(result.error) : undefined,
    });
  }
  onError(error) {
    const none = /^Error: No tests found/.test(error.message || "");
    if (!none) tell({ event: "broken", name: error.location?.file || "playwright", file: error.location?.file, problem: problemOf(error) });
  }
  onEnd({ status }) {
    if (status !== "interrupted") tell({ event: "end" });
  }
}
`;

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
