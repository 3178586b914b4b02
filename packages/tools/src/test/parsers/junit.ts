import { type Attributes, createTagReader, MAX_ATTRIBUTES, MAX_VALUE_CHARS } from "../../tags.ts";
import type { Findings, Outcome, Problem } from "../case.ts";
import { placesIn } from "./stack.ts";

/** Elements of a test case that state its outcome. */
const OUTCOMES: Readonly<Record<string, Outcome>> = { failure: "fail", error: "fail", skipped: "skip" };

/** More than is ever shown of a failure. */
const MAX_TEXT_CHARS = 65_536;
/** Finding both sides of an assertion takes quadratic time, so only this much of a message is searched. */
const MAX_COMPARISON_CHARS = 8_192;

/** Parses a JUnit report of any tool. */
export function createJunitReader(xml: string, findings: Findings) {
  let suites = 0;
  let closed = 0;
  let isRefused = false;
  let test: Attributes | undefined;
  let ended: Ending | undefined;
  /** Only text inside the outcome element belongs to it; the test's output follows. */
  let inside: string | undefined;
  /** The test's output, in case its failure has no message. */
  let printed = "";
  let isPrinting = false;

  const finish = () => {
    if (ended && ended.text.trim() === "") ended.text = printed;
    if (test) findings.test(toCase(test, ended));
    test = undefined;
    printed = "";
    isPrinting = false;
    ended = undefined;
    inside = undefined;
  };
  const tags = createTagReader(xml, "xml", {
    open(name, attributes, isEmpty) {
      if (isRefused) return;
      if (isSuite(name)) {
        suites += 1;
        if (isEmpty) closed += 1;
      } else if (name === "testcase") {
        finish();
        test = attributes;
        if (isEmpty) finish();
      } else if (test && !ended && Object.hasOwn(OUTCOMES, name)) {
        ended = { name, attributes, text: "" };
        if (!isEmpty) inside = name;
      } else if (test && name === "system-out") isPrinting = !isEmpty;
    },
    close(name) {
      if (isRefused) return;
      if (name === inside) inside = undefined;
      if (name === "system-out") isPrinting = false;
      if (name === "testcase") finish();
      if (isSuite(name)) closed += 1;
    },
    text(text) {
      if (ended && inside !== undefined && ended.text.length < MAX_TEXT_CHARS)
        ended.text += text.slice(0, MAX_TEXT_CHARS);
      else if (isPrinting && printed.length < MAX_TEXT_CHARS) printed += text.slice(0, MAX_TEXT_CHARS);
    },
    tooLarge() {
      if (isRefused) return;
      isRefused = true;
      const message = `a tag of the report has more than ${MAX_VALUE_CHARS} characters or ${MAX_ATTRIBUTES} attributes`;
      findings.broken({ name: "JUnit report", problem: { message } });
    },
  });

  return {
    /** The report in one piece or several. */
    write: (piece: string) => tags.write(piece),
    /** The rest of a report is not read after a tag that is too large. */
    get isRefused() {
      return isRefused;
    },
    /** Returns whether it was a complete report. */
    end(): boolean {
      finish();
      return suites > 0 && closed >= suites;
    },
  };
}

/** The element that states a test's outcome. */
interface Ending {
  readonly name: string;
  readonly attributes: Attributes;
  text: string;
}

const isSuite = (name: string): boolean => name === "testsuite" || name === "testsuites";

function toCase({ name, classname = "", time, file, ...test }: Attributes, ended: Ending | undefined) {
  const seconds = Number(time ?? Number.NaN);
  const outcome: Outcome = ended ? (OUTCOMES[ended.name] ?? "fail") : "pass";
  const line = Number(test["line"] ?? Number.NaN);
  return {
    name: name ?? "unnamed test",
    // CTest has no classes and repeats the name.
    suite: [classname].filter((one) => one !== "" && one !== name),
    outcome,
    durationMs: Number.isFinite(seconds) ? seconds * 1000 : undefined,
    file,
    problem:
      ended && outcome === "fail"
        ? toProblem(
            ended,
            classname,
            file !== undefined && Number.isInteger(line) ? { file, line } : undefined,
          )
        : undefined,
  };
}

function toProblem({ name, attributes, text }: Ending, className: string, at: Problem["at"]): Problem {
  const stack = text.trim();
  // PHPUnit repeats the name of the test before the message.
  const message = attributes["message"] || stack.replace(/^[\w\\]+::.*\n/, "").split("\n", 1)[0] || name;
  const [, expected, actual] =
    /expected: ?<(.*?)> but was: ?<(.*?)>/.exec(message.slice(0, MAX_COMPARISON_CHARS)) ?? [];
  return { message, stack: stack || undefined, expected, actual, at: at ?? placeIn(stack, className) };
}

/** The frame in the file of the test's own class; earlier ones belong to assertions. */
function placeIn(stack: string, className: string): Problem["at"] {
  const places = placesIn(stack);
  const own = className.slice(className.lastIndexOf(".") + 1).split("$", 1)[0];
  return places.find(({ file }) => own !== "" && file.startsWith(`${own}.`)) ?? places[0];
}
