import type { Findings, Outcome, Problem } from "../case.ts";
import { placesIn } from "./stack.ts";
import type { XmlToken } from "./xml.ts";

type Open = Extract<XmlToken, { kind: "open" }>;

/** Elements of a test case that state its outcome. */
const OUTCOMES: Readonly<Record<string, Outcome>> = { failure: "fail", error: "fail", skipped: "skip" };

/** More than is ever shown of a failure. */
const MAX_TEXT_CHARS = 65_536;
/** Finding both sides of an assertion takes quadratic time, so only this much of a message is searched. */
const MAX_COMPARISON_CHARS = 8_192;

export interface JunitReader {
  take(token: XmlToken): void;
  /** Returns whether it was a complete report. */
  end(): boolean;
}

/** Parses a JUnit report of any tool from its XML tokens. */
export function createJunitReader(findings: Findings): JunitReader {
  let suites = 0;
  let closed = 0;
  let test: Open | undefined;
  let ended: { readonly element: Open; text: string } | undefined;
  /** Only text inside the outcome element belongs to it; the test's output follows. */
  let inside: string | undefined;

  const finish = () => {
    if (test) findings.test(toCase(test, ended));
    test = undefined;
    ended = undefined;
    inside = undefined;
  };
  const open = (token: Open) => {
    if (isSuite(token.name)) {
      suites += 1;
      if (token.empty) closed += 1;
    } else if (token.name === "testcase") {
      finish();
      test = token;
      if (token.empty) finish();
    } else if (test && !ended && Object.hasOwn(OUTCOMES, token.name)) {
      ended = { element: token, text: "" };
      if (!token.empty) inside = token.name;
    }
  };
  const close = (name: string) => {
    if (name === inside) inside = undefined;
    if (name === "testcase") finish();
    if (isSuite(name)) closed += 1;
  };

  return {
    take(token) {
      if (token.kind === "open") open(token);
      else if (token.kind === "close") close(token.name);
      else if (token.kind === "refused")
        findings.broken({ name: "JUnit report", problem: { message: token.reason } });
      else if (token.kind === "text" && ended && inside !== undefined && ended.text.length < MAX_TEXT_CHARS)
        ended.text += token.text.slice(0, MAX_TEXT_CHARS);
    },
    end() {
      finish();
      return suites > 0 && closed >= suites;
    },
  };
}

const isSuite = (name: string): boolean => name === "testsuite" || name === "testsuites";

function toCase(test: Open, ended: { element: Open; text: string } | undefined) {
  const get = (name: string) => test.attributes.get(name);
  const seconds = Number(get("time") ?? Number.NaN);
  const outcome: Outcome = ended ? (OUTCOMES[ended.element.name] ?? "fail") : "pass";
  const line = Number(get("line") ?? Number.NaN);
  const file = get("file");
  return {
    name: get("name") ?? "unnamed test",
    suite: [get("classname") ?? ""].filter(Boolean),
    outcome,
    durationMs: Number.isFinite(seconds) ? seconds * 1000 : undefined,
    file,
    problem:
      ended && outcome === "fail"
        ? toProblem(
            ended,
            get("classname") ?? "",
            file !== undefined && Number.isInteger(line) ? { file, line } : undefined,
          )
        : undefined,
  };
}

function toProblem(
  { element, text }: { element: Open; text: string },
  className: string,
  at: Problem["at"],
): Problem {
  const stack = text.trim();
  const message = element.attributes.get("message") || stack.split("\n", 1)[0] || element.name;
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
