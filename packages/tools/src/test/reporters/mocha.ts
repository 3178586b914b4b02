import { NODE_EVENTS } from "./node-events.ts";

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
