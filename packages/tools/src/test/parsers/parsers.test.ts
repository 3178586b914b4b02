import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { feed, feedText } from "../../../testing/test/feed.ts";
import { CARGO, EVENTS, GO, TAP } from "../../../testing/test/samples.ts";
import type { CreateParser } from "../case.ts";
import { createEventsParser } from "./events.ts";
import { createGoParser } from "./go-json.ts";
import { createLibtestParser } from "./libtest.ts";
import { createTapParser } from "./tap.ts";

const PARSERS: readonly { name: string; create: CreateParser; sample: string }[] = [
  { name: "our reporters' events", create: createEventsParser, sample: EVENTS },
  { name: "go test -json", create: createGoParser("example.com/m"), sample: GO },
  { name: "cargo test", create: createLibtestParser, sample: CARGO },
  { name: "TAP", create: createTapParser, sample: TAP },
];

describe.each(PARSERS)("$name", ({ create, sample }) => {
  const bytes = Buffer.from(sample);
  const whole = feed(create, [bytes]);

  test("gives the same result for one chunk, single bytes, and any split", () => {
    expect(whole.tests.length).toBeGreaterThan(2);
    expect(whole.complete).toBe(true);
    expect(
      feed(
        create,
        [...bytes].map((byte) => Uint8Array.of(byte)),
      ),
    ).toEqual(whole);
    for (let at = 0; at <= bytes.length; at++)
      expect(feed(create, [bytes.subarray(0, at), bytes.subarray(at)])).toEqual(whole);
  });

  test("never calls truncated output complete", () => {
    for (let at = 0; at < bytes.length; at++) {
      const cut = feed(create, [bytes.subarray(0, at)]);
      if (cut.tests.length > 0 && cut.tests.length < whole.tests.length) expect(cut.complete).toBe(false);
    }
  });

  test("skips lines it does not understand", () => {
    const line = fc.oneof(
      fc.string({ unit: "binary" }),
      fc.constantFrom(...sample.split("\n")),
      fc.json(),
      fc.constantFrom(
        "    ---",
        "    ...",
        "  ---",
        "1..3",
        "not ok",
        "ok 1 - a # TODO",
        "# Subtest: x",
        "---- x stdout ----",
        "failures:",
      ),
    );
    fc.assert(
      fc.property(fc.array(line, { maxLength: 40 }), (lines) => {
        const { tests, broken } = feedText(create, lines.join("\n"));
        for (const { name, outcome } of tests)
          expect([typeof name, ["pass", "fail", "skip"].includes(outcome)]).toEqual(["string", true]);
        for (const { problem } of broken) expect(typeof problem.message).toBe("string");
      }),
      { numRuns: 300 },
    );
  });

  test("accepts any bytes", () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 200 })), (chunks) => void feed(create, chunks)),
    );
  });
});
