import fc from "fast-check";
import { expect, test } from "vitest";
import type { TestCase } from "../case.ts";
import { createJunitReader } from "./junit.ts";

function read(xml: string, pieceChars = xml.length + 1) {
  const tests: TestCase[] = [];
  const reader = createJunitReader(xml, { test: (one) => tests.push(one), broken: () => {} });
  for (let at = 0; at < xml.length; at += pieceChars) reader.write(xml.slice(at, at + pieceChars));
  return { tests, complete: reader.end() };
}

/** As Surefire writes it. */
const SUREFIRE = `<?xml version="1.0" encoding="UTF-8"?>
<!-- a comment with <testcase name="none"/> -->
<testsuite name="com.x.SumsTest" tests="4" errors="1" skipped="1" failures="1">
  <properties><property name="a>b" value="&quot;"/></properties>
  <testcase name="adds" classname="com.x.SumsTest" time="0.012"/>
  <testcase name="addsWrongly" classname="com.x.SumsTest" time="0.003">
    <failure message="expected: &lt;3&gt; but was: &lt;2&gt;" type="org.opentest4j.AssertionFailedError"><![CDATA[org.opentest4j.AssertionFailedError: expected: <3> but was: <2>
	at org.junit.jupiter.api.AssertionUtils.fail(AssertionUtils.java:55)
	at com.x.SumsTest.addsWrongly(SumsTest.java:14)
]]></failure>
    <system-out>noise</system-out>
  </testcase>
  <testcase name="throws" classname="com.x.SumsTest"><error type="java.lang.NullPointerException">java.lang.NullPointerException
	at com.x.SumsTest.throws(SumsTest.java:20)</error></testcase>
  <testcase name="later" classname="com.x.SumsTest"><skipped message="not today"/></testcase>
</testsuite>
`;

test("outcomes, times, locations and both sides of an assertion are parsed", () => {
  const { tests, complete } = read(SUREFIRE);
  expect(complete).toBe(true);
  expect(tests.map(({ name, outcome }) => `${outcome} ${name}`)).toEqual([
    "pass adds",
    "fail addsWrongly",
    "fail throws",
    "skip later",
  ]);
  expect(tests[0]?.durationMs).toBe(12);
  expect(tests[1]?.problem).toMatchObject({
    message: "expected: <3> but was: <2>",
    expected: "3",
    actual: "2",
    at: { file: "SumsTest.java", line: 14 },
  });
  expect(tests[1]?.problem?.stack).not.toContain("noise");
  expect(tests[2]?.problem?.message).toBe("java.lang.NullPointerException");
});

test("a truncated report is not complete", () => {
  const { tests } = read(SUREFIRE);
  for (let at = 0; at < SUREFIRE.trimEnd().length; at++) {
    const cut = read(SUREFIRE.slice(0, at));
    expect(cut.complete).toBe(false);
    expect(cut.tests.length).toBeLessThanOrEqual(tests.length);
  }
});

test("declared entities are not expanded", () => {
  const bomb = `<?xml version="1.0"?>
<!DOCTYPE lolz [
  <!ENTITY lol "lol">
  <!ENTITY lol2 "&lol;&lol;&lol;&lol;&lol;&lol;&lol;&lol;&lol;&lol;">
  <!ENTITY file SYSTEM "file:///etc/passwd">
]>
<testsuite><testcase name="&lol2;&file;&#65;&#x42;&#x110000;"/></testsuite>`;
  expect(read(bomb).tests).toMatchObject([{ name: "&lol2;&file;AB\ufffd" }]);
});

test("no text makes the parser fail or take long", () => {
  const piece = fc.oneof(
    fc.string({ unit: "binary" }),
    fc.constantFrom(
      "<",
      ">",
      "<![CDATA[",
      "]]>",
      "<!--",
      "-->",
      "<!DOCTYPE [",
      "<testcase ",
      'name="',
      "&",
      "</testsuite>",
      "<testsuite>",
      "<failure>",
      "<?",
    ),
  );
  fc.assert(fc.property(fc.array(piece, { maxLength: 60 }), (pieces) => void read(pieces.join(""))));
  const started = process.threadCpuUsage();
  for (const part of ["<", "<a ", "<![CDATA[", "<!--", '<a b="', "&#", "<!D[", "<!a>", "<?a?>"])
    read(part.repeat(200_000));
  expect(process.threadCpuUsage(started).user).toBeLessThan(3_000_000);
});

test("a report in pieces of any size is parsed as in one piece", () => {
  const whole = read(SUREFIRE);
  for (let chars = 1; chars < 60; chars++) expect(read(SUREFIRE, chars)).toEqual(whole);
});
