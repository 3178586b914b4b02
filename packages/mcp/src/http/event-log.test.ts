import fc from "fast-check";
import { expect, test } from "vitest";
import { createEventLog } from "./event-log.ts";

test("events since an id are returned, of its stream only, while they fit", () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.constantFrom("0", "a"), fc.string({ minLength: 1, maxLength: 20 }))),
      (sent) => {
        const log = createEventLog(1_000_000);
        const kept = sent.map(([stream, line]) => ({ stream, line, id: log.add(stream, line) }));
        for (const [at, { stream, id }] of kept.entries()) {
          const later = kept.slice(at + 1).filter((event) => event.stream === stream);
          expect(log.after(id)).toEqual(later.map(({ id, line }) => ({ id, line })));
          expect(log.streamOf(id)).toBe(stream);
        }
      },
    ),
  );
});

test("the oldest events are evicted first", () => {
  const log = createEventLog(100);
  const first = log.add("a", "1".repeat(20));
  log.add("a", "2".repeat(20));
  log.add("a", "3".repeat(20));
  expect(log.after(first).map(({ line }) => line[0])).toEqual(["2", "3"]);
  log.add("a", "4".repeat(20));
  expect(log.after(first).map(({ line }) => line[0])).toEqual(["3", "4"]);
});
