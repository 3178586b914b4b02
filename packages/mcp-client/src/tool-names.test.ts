import fc from "fast-check";
import { expect, test } from "vitest";
import { createToolNames } from "./tool-names.ts";

test("every tool has a unique name that leads back to it", () => {
  const text = fc.oneof(
    fc.string({ unit: "binary" }),
    fc.constantFrom("a", "a.b", "a_b", "a__b", "_", "x".repeat(90)),
  );
  fc.assert(
    fc.property(fc.array(fc.tuple(text, text)), (places) => {
      const names = createToolNames();
      for (const [server, tool] of places) {
        const name = names.nameOf(server, tool);
        expect(name).toMatch(/^mcp__[A-Za-z0-9-]+(_[A-Za-z0-9-]+)*__[A-Za-z0-9_-]+$/);
        expect(name.length).toBeLessThanOrEqual(60);
        expect(names.placeOf(name)).toEqual({ server, tool });
        expect(names.nameOf(server, tool)).toBe(name);
      }
    }),
    { numRuns: 40 },
  );
});

test("an unassigned name leads nowhere", () => {
  expect(createToolNames().placeOf("mcp__a__b")).toBeUndefined();
});
