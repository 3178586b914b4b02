import { NODE_EVENTS } from "./node-events.ts";

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
