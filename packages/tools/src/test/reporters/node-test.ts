import { NODE_EVENTS } from "./node.ts";

/** Suites enclose their tests only by nesting, so their names are tracked by level until they end. */
export const NODE_TEST_REPORTER = `
import { appendFileSync } from "node:fs";
${NODE_EVENTS}
const open = new Map();
const printed = new Map();
const isFile = ({ nesting, name, file, details }) =>
  nesting === 0 && file !== undefined && (name === file || file.endsWith("/" + name)) && details?.type !== "suite";
const causeOf = (error) => (error && error.cause instanceof Error ? error.cause : error);
// The error says only that the file failed; the reason is in its output.
const brokenProblem = ({ file, name }, error) => {
  const text = printed.get(file) || printed.get(name);
  if (!text) return toProblem(causeOf(error));
  const message = text.split("\\n").find((line) => /^\\w*Error\\b/.test(line)) || text;
  return { message, stack: text };
};
export default async function* (source) {
  yield "";
  for await (const { type, data } of source) {
    const names = open.get(data?.file) || [];
    open.set(data?.file, names);
    if (type === "test:stderr") printed.set(data.file, short((printed.get(data.file) || "") + data.message));
    if (type === "test:start") names.splice(data.nesting, names.length, data.name);
    if (type !== "test:pass" && type !== "test:fail") continue;
    const { details = {} } = data;
    const failed = type === "test:fail" && !data.todo && !data.skip;
    const error = details.error;
    if (isFile(data)) {
      if (failed && error?.failureType !== "subtestsFailed")
        tell({ event: "broken", name: data.name, file: data.file, problem: brokenProblem(data, error) });
      continue;
    }
    if (details.type === "suite" && (!failed || error?.failureType === "subtestsFailed")) continue;
    if (failed && error?.failureType === "subtestsFailed") continue;
    tell({
      event: "test", name: data.name, suite: names.slice(0, data.nesting), file: data.file,
      outcome: failed ? "fail" : data.skip !== undefined || (data.todo !== undefined && type === "test:fail") ? "skip" : "pass",
      ms: details.duration_ms,
      problem: failed ? toProblem(causeOf(error)) : undefined,
    });
  }
  tell({ event: "end" });
}
`;
