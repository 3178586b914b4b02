import fc from "fast-check";
import { expect, test } from "vitest";
import { best } from "./best.ts";

test("the best scores equal those of a full sort, including ties with the last", () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 0, max: 9 }), { maxLength: 60 }),
      fc.integer({ min: 1, max: 12 }),
      (scores, limit) => {
        const sorted = scores
          .map((score, id) => ({ id, score }))
          .filter(({ score }) => score > 0)
          .sort((a, b) => b.score - a.score || a.id - b.id);
        const last = sorted[limit - 1]?.score ?? 0;
        expect(best(Float64Array.from(scores), limit)).toEqual(sorted.filter(({ score }) => score >= last));
      },
    ),
  );
});
